create table ledger.outside_world (
  singleton boolean primary key default true,
  balance_cents bigint not null default 0,
  account_version core.amount not null default 0,
  constraint outside_world_is_one_row check (singleton)
) with (fillfactor = 10);

comment on table ledger.outside_world is
  'The account that mirrors all cash that comes in and goes out: one row. It is locked '
  'before any market and any user.';

insert into ledger.outside_world default values;
