create table admin.moved_cash (
  kind ledger.journal_kind,
  mover text,
  day date not null,
  moved_cents numeric not null,
  primary key (kind, mover)
);

comment on table admin.moved_cash is
  'How much cash each member of staff, login or key has moved on the last day (UTC) on which they '
  'moved any, by the kind of the movement: what admin.count_cash compares with the caps.';
comment on column admin.moved_cash.mover is
  'The public id of the member of staff, else login and name of the key.';
