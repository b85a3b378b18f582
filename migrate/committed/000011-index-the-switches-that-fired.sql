--! Previous: sha1:0124b6f8ff5843e6d4de8e5cc4560e3f72cee0e8
--! Hash: sha1:6fb09e2543b14a6dc0c6c3c37aed2dcc132f457c
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
