--! Previous: sha1:a5845517e005d67497f0479463402ef9fa7645dc
--! Hash: sha1:002d1b6a5adaa8401839756d66f00879b0e1e183
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
