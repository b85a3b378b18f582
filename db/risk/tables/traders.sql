create table risk.traders (
  user_id bigint primary key references identity.users (id),
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
  constraint traders_limits_are_not_negative check (
    least(
      day_limit_cents, week_limit_cents, month_limit_cents,
      next_day_limit_cents, next_week_limit_cents, next_month_limit_cents
    ) >= 0
  ),
  constraint traders_are_frozen_by_an_operator_for_a_reason check (
    (frozen_at is null) = (frozen_by is null)
    and (frozen_at is null) = (frozen_reason is null)
  )
);

comment on table risk.traders is
  'The gates of each trader. Written only under the lock on the user''s ledger account.';
comment on column risk.traders.limits_reviewed_at is
  'When the loss limits were first reviewed; until then no order may be placed.';
comment on column risk.traders.excluded_until is
  'Self-excluded until then; infinity is for good. It never moves to an earlier time.';
comment on column risk.traders.frozen_at is
  'Since when an operator has frozen the account; null: it is not frozen.';
comment on column risk.traders.frozen_by is
  'The login that froze it, and in brackets the name of the staff key that it gave. Of several '
  'calls the last one, as with the reason.';
comment on column risk.traders.frozen_reason is 'Why it is frozen, for operators only.';
comment on column risk.traders.day_limit_cents is
  'Most that may be put into trading today (UTC); null is no limit. Likewise over the last 7 '
  '(week) and 30 days (month).';
comment on column risk.traders.next_day_limit_cents is
  'The limit from day_limit_changes_at on: raising or removing a limit waits.';
