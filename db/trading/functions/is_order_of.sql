create or replace function trading.is_order_of(order_id bigint, request trading.order_request)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from trading.orders as o
    where o.id = is_order_of.order_id
      and trading.has_terms(
        is_order_of.request, o.market_id, o.side, o.order_type, o.price, o.quantity,
        o.budget_cents, o.time_in_force, o.post_only, o.expires_at
      )
  )
$$;

comment on function trading.is_order_of(bigint, trading.order_request) is
  'Whether an order can be the one that this request asks for.';
