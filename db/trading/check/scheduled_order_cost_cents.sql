create or replace function trading.scheduled_order_cost_cents(order_id bigint, at timestamptz)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select trading.scheduled_cost_cents(
    o.order_type, o.price, o.quantity, o.budget_cents, f.taker_rate_bps
  )
  from trading.orders as o
  join catalog.markets as m on m.id = o.market_id
  cross join trading.fee_in_force(m.id, m.category_id, scheduled_order_cost_cents.at) as f
  where o.id = scheduled_order_cost_cents.order_id
$$;

comment on function trading.scheduled_order_cost_cents(bigint, timestamptz) is
  'The most that a scheduled order could cost at the fee in force, in cents.';
