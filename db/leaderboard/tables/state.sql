create table leaderboard.state (
  singleton boolean primary key default true,
  snapshot_at timestamptz,
  day date,
  after_trade_id bigint not null default 0,
  after_conversion_id bigint not null default 0,
  after_resolution_id bigint not null default 0,
  noted_trade_id bigint not null default 0,
  noted_conversion_id bigint not null default 0,
  noted_resolution_id bigint not null default 0,
  noted_xid xid8,
  constraint state_is_one_row check (singleton)
);

comment on table leaderboard.state is
  'How far the leaderboard has come: one row, which a refresh locks.';
comment on column leaderboard.state.snapshot_at is
  'When it was last complete; null before the first time.';
comment on column leaderboard.state.day is 'The UTC day on which its windows end.';
comment on column leaderboard.state.after_trade_id is
  'Every trade up to this one has been taken, or never will be. Later ones are looked at again '
  'each time, since ids do not commit in order; leaderboard.markets says which of them were taken. '
  'after_conversion_id and after_resolution_id likewise.';
comment on column leaderboard.state.noted_trade_id is
  'The last trade id given out before the transaction noted_xid began to write. Once all below '
  'that one have ended, all trades up to the id can be seen, and after_trade_id moves there.';

insert into leaderboard.state default values;
