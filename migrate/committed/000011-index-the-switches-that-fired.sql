--! Previous: sha1:d78846592a9ab2d9038f6e50a23e3caa5a638a53
--! Hash: sha1:b39c6d195ca04c36477de51b60d37fb25e78dcc1
--! Message: Index the switches that fired

--! no-transaction
create index concurrently dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at) where last_fired_at is not null;
