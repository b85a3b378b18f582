--! Previous: sha1:275a6cfc88f7eb30a949e2f6d87efa9dfb417845
--! Hash: sha1:1c737d3dacbb968a79fffad40270f68c6584238e
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
