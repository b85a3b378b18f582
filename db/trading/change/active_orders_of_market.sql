create or replace function trading.active_orders_of_market(market_id bigint, most int default null)
returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- Each part has an index of its own.
  select array(
    (
      select b.order_id
      from trading.active_orders as b
      where b.market_id = active_orders_of_market.market_id
        and b.queue_position is not null
      limit active_orders_of_market.most
    )
    union all
    (
      select b.order_id
      from trading.active_orders as b
      where b.market_id = active_orders_of_market.market_id
        and b.queue_position is null
      limit active_orders_of_market.most
    )
    limit active_orders_of_market.most
  )
$$;

comment on function trading.active_orders_of_market(bigint, int) is
  'Ids of the active orders of a market, all of them or at most so many.';
