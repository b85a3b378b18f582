create or replace function risk.limits_in_force(trader trading.traders, at timestamptz)
returns risk.loss_limits
language sql immutable parallel safe
return row(
  case when at >= (trader).day_limit_changes_at
    then (trader).next_day_limit_cents else (trader).day_limit_cents end,
  case when at >= (trader).week_limit_changes_at
    then (trader).next_week_limit_cents else (trader).week_limit_cents end,
  case when at >= (trader).month_limit_changes_at
    then (trader).next_month_limit_cents else (trader).month_limit_cents end
)::risk.loss_limits;

comment on function risk.limits_in_force(trading.traders, timestamptz) is
  'The loss limits of a trader that hold at a time.';
