create table admin.moved_cash (
  kind ledger.journal_kind,
  mover text,
  day date,
  moved_cents numeric not null,
  primary key (kind, mover, day)
);

comment on table admin.moved_cash is
  'How much cash each member of staff, login or key has moved on each day (UTC), by the kind of '
  'the movement: what admin.count_cash compares with the caps. Kept for good: a clock that was '
  'ahead takes away nothing.';
comment on column admin.moved_cash.mover is
  'The public id of the member of staff, else login and name of the key.';
