create type risk.loss_limits as (
  day_cents bigint,
  week_cents bigint,
  month_cents bigint
);
comment on type risk.loss_limits is 'The limits in force; null is no limit.';

create type risk.limit_change as (
  limit_cents bigint,
  next_limit_cents bigint,
  changes_at timestamptz
);
comment on type risk.limit_change is
  'One loss limit: what holds, and what holds from changes_at on, if it is to change.';
