create or replace function trading.scheduled_cost_cents(
  order_type trading.order_type, price int, quantity int, budget_cents int, taker_rate_bps int
)
returns bigint
language sql immutable parallel safe
return case
  when order_type = 'sell' then 0
  when budget_cents is not null then budget_cents
  else quantity::bigint * price
    + trading.fee_cents(taker_rate_bps, quantity::bigint * price * (100 - price))
end;

comment on function trading.scheduled_cost_cents(trading.order_type, int, int, int, int) is
  'The most that a scheduled order could cost, in cents: its budget, or all of it at its price '
  '(99 for a market buy) with the fee.';
