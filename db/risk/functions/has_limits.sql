create or replace function risk.has_limits(trader trading.traders)
returns boolean
language sql immutable parallel safe
return coalesce(
  (trader).day_limit_cents, (trader).week_limit_cents, (trader).month_limit_cents,
  (trader).next_day_limit_cents, (trader).next_week_limit_cents,
  (trader).next_month_limit_cents
) is not null;

comment on function risk.has_limits(trading.traders) is
  'Whether a trader has a loss limit, now or soon.';
