create or replace function trading.is_plain_trader(
  trader trading.traders, cost_cents bigint, trades boolean, minimum_age int, at timestamptz
)
returns boolean
language sql immutable parallel safe
return risk.blocked_by(trader, minimum_age, at) is null
  and not risk.has_limits(trader)
  and (trader).balance_cents >= cost_cents
  -- The first movement of a day also writes what the user had at its start.
  and (not trades or (trader).moved_on = (at at time zone 'UTC')::date);

comment on function trading.is_plain_trader(trading.traders, bigint, boolean, int, timestamptz) is
  'Whether trading.place_plain_order may place an order of this user, or trade with it, for this '
  'cost: the user may trade, has no loss limits, and has the cash. trades: the cash moves now.';
