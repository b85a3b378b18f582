create or replace function trading.scheduled_order_cost_cents(
  scheduled_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
begin atomic
  select trading.scheduled_cost_cents(
    (scheduled_order).order_type, (scheduled_order).price, (scheduled_order).quantity,
    (scheduled_order).budget_cents, f.taker_rate_bps
  )
  from catalog.markets as m
  cross join trading.fee_in_force(m.id, m.category_id, scheduled_order_cost_cents.at) as f
  where m.id = (scheduled_order).market_id;
end;

comment on function trading.scheduled_order_cost_cents(trading.active_orders, timestamptz) is
  'The most that a scheduled order could cost, in cents, at the fee in force.';
