create or replace function trading.affordable_quantity(
  budget_cents int, spent_cents bigint, rate_bps int, weight bigint, price int
)
returns bigint
language sql immutable parallel safe
return ((budget_cents - spent_cents) * 1000000 - rate_bps * weight)
  / (price * 1000000::bigint + rate_bps * price * (100 - price));

comment on function trading.affordable_quantity(int, bigint, int, bigint, int) is
  'The most shares n at a price with spent + n x price + fee(weight + n x price x (100 - price)) '
  'within the budget, fee by trading.fee_cents; spent and weight are of the fills before.';
