--! Previous: sha1:ac797e14114f4b9340aaf9a3c4e1d719b51c8d37
--! Hash: sha1:a1a113afdf5f8e5968fc6328c5bb67bcf2179073
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
