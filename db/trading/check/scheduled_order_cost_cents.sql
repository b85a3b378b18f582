create or replace function trading.scheduled_order_cost_cents(
  open_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select trading.scheduled_cost_cents(
    (open_order).order_type, (open_order).price, (open_order).quantity,
    (open_order).budget_cents, f.taker_rate_bps
  )
  from catalog.markets as m
  cross join trading.fee_in_force(m.id, m.category_id, scheduled_order_cost_cents.at) as f
  where m.id = (open_order).market_id
$$;

comment on function trading.scheduled_order_cost_cents(trading.active_orders, timestamptz) is
  'The most that a scheduled order could cost at the fee in force, in cents.';
