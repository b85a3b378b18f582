create table trading.traders (
  user_id bigint primary key references identity.users (id),
  public_id uuid not null,
  balance_cents bigint not null default 0,
  external_cents bigint not null default 0,
  overdraft_cents core.amount not null default 0,
  account_version core.amount not null default 0,
  moved_on date not null default '-infinity',
  limits_reviewed_at timestamptz,
  excluded_until timestamptz,
  frozen_at timestamptz,
  frozen_by text,
  frozen_reason text,
  day_limit_cents bigint,
  week_limit_cents bigint,
  month_limit_cents bigint,
  next_day_limit_cents bigint,
  next_week_limit_cents bigint,
  next_month_limit_cents bigint,
  day_limit_changes_at timestamptz,
  week_limit_changes_at timestamptz,
  month_limit_changes_at timestamptz,
  confirmed_age int not null default 0,
  age_confirmed_at timestamptz,
  constraint traders_public_id_is_unique unique (public_id),
  constraint traders_stay_above_zero_but_for_their_overdraft
    check (balance_cents + overdraft_cents >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

comment on table trading.traders is
  'One row a user: cash and what decides whether the user may trade. The row is also the lock on '
  'the user: a function that moves the cash of users or relies on their checks locks their rows '
  'first, in ascending user id.';
comment on column trading.traders.public_id is
  'identity.users.public_id, repeated so that an order finds its user with one look-up.';
comment on column trading.traders.balance_cents is
  'EUR-cents; equals the sum of the user''s ledger.entries and the balance after the last one.';
comment on column trading.traders.external_cents is
  'Deposits, bonuses and adjustments less withdrawals and reversals. external_cents - '
  'balance_cents is the net cash the user has put into trading.';
comment on column trading.traders.overdraft_cents is
  'How far corrections of resolutions, voids and reversals of deposits, and nothing else, took the '
  'user below zero.';
comment on column trading.traders.account_version is 'Number of ledger.entries of the user.';
comment on column trading.traders.moved_on is
  'UTC day of the last entry; -infinity before the first.';
comment on column trading.traders.limits_reviewed_at is
  'When the loss limits were first reviewed; until then no order may be placed.';
comment on column trading.traders.excluded_until is
  'Self-excluded until then; infinity is for good. It never moves to an earlier time, but '
  'admin.end_self_exclusion may end it.';
comment on column trading.traders.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column trading.traders.frozen_by is
  'The member of staff, or else the login, that froze it, and in brackets the name of the key that '
  'was used. Of several calls the last one, as with the reason.';
comment on column trading.traders.frozen_reason is 'Why it is frozen, for operators only.';
comment on column trading.traders.day_limit_cents is
  'Most that may be put into trading today (UTC); null is no limit. Likewise over the last 7 '
  '(week) and 30 days (month).';
comment on column trading.traders.next_day_limit_cents is
  'The limit from day_limit_changes_at on: raising or removing a limit waits. Null is none, if '
  'day_limit_changes_at is set.';
comment on column trading.traders.confirmed_age is
  'The user has confirmed to be this many years old or older; 0: has not been asked.';
comment on column trading.traders.age_confirmed_at is 'When that was; null: never.';
