--! Previous: sha1:3f20bea9f8ba16b70476739b8a6a408c355f4d6b
--! Hash: sha1:e9550e94bc90bd2a1ce7b14574c63778c4c9c97e
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
