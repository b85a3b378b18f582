create unlogged table rate_limits.allowances (
  user_id uuid primary key,
  spent bigint not null default 0,
  at timestamptz not null,
  removable_at timestamptz not null,
  constraint allowances_are_spent_or_full check (spent >= 0)
)
with (fillfactor = 70);

create index allowances_by_removal on rate_limits.allowances (removable_at);

comment on table rate_limits.allowances is
  'The token buckets of trading requests (v1-trading), one for each user who made any lately; a '
  'user without a row has a full one. Unlogged: after a crash all are full.';
comment on column rate_limits.allowances.spent is
  'What was missing to a full bucket, in sixty-millionths of a token: a rate of so many requests a '
  'minute gives back just as many of these in a microsecond, so nothing is ever rounded.';
comment on column rate_limits.allowances.removable_at is
  'Not before the bucket is full again. Changed only now and then, as in rate_limits.windows.';
