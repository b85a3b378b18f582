create or replace function risk.exceeds_limits(
  limits risk.loss_limits, untraded risk.loss_limits, balance_cents bigint, cost_cents bigint
)
returns boolean
language sql immutable parallel safe
return
  coalesce(
    greatest(0, (untraded).day_cents - balance_cents) + cost_cents > (limits).day_cents, false
  )
  or coalesce(
    greatest(0, (untraded).week_cents - balance_cents) + cost_cents > (limits).week_cents, false
  )
  or coalesce(
    greatest(0, (untraded).month_cents - balance_cents) + cost_cents > (limits).month_cents, false
  );

comment on function risk.exceeds_limits(risk.loss_limits, risk.loss_limits, bigint, bigint) is
  'Whether cost_cents more would pass any limit. untraded is the balance the trader would have '
  'without the trading of each window.';
