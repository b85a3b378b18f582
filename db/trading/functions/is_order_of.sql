create or replace function trading.is_order_of(order_id bigint, request trading.order_request)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from trading.orders as o
    where o.id = is_order_of.order_id
      and o.market_id = (request).market_id
      and o.side = (request).side
      and o.order_type = (request).order_type
      and o.price = (request).price
      and o.time_in_force = (request).time_in_force
      and o.post_only = (request).post_only
      and o.budget_cents is not distinct from (request).budget_cents
      and o.expires_at is not distinct from (request).expires_at
      and (o.budget_cents is not null or o.quantity <= (request).quantity)
  )
$$;

comment on function trading.is_order_of(bigint, trading.order_request) is
  'Whether an order can be the one that this request asks for, by all that an amendment leaves as '
  'it is; the order may have been made smaller.';
