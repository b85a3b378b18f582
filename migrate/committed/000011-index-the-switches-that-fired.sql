--! Previous: sha1:be34b86db90a529ba1b25b3e5c09657b5a57d84d
--! Hash: sha1:dea22bb75a9d508ebcdbf84a05e5c83f7ca9de33
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
