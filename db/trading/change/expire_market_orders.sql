create or replace function trading.expire_market_orders(market_id bigint, most int default null)
returns int
language plpgsql
as $$
declare
  v_at constant timestamptz := core.now();
  v_order_ids constant bigint[] := array(
    select e.order_id
    from trading.expired_orders(
      expire_market_orders.market_id, v_at, expire_market_orders.most
    ) as e
  );
begin
  perform trading.end_orders(v_order_ids, null, v_at);
  return cardinality(v_order_ids);
end
$$;

comment on function trading.expire_market_orders(bigint, int) is
  'Ends the orders of trading.expired_orders in a market, all of them or at most so many; '
  'returns how many. The caller holds the lock of the market.';
