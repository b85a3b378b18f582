--! Previous: sha1:0891fe2c02f93c501ea8a7a91e284576f6091a96
--! Hash: sha1:f86aaadacc93fcb18a6f63ffbc558e2c4993cd06
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
