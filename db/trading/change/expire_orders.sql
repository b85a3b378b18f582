create or replace function trading.expire_orders(market_id bigint, most int default null)
returns int
language plpgsql
as $$
declare
  v_at constant timestamptz := core.now();
begin
  return trading.cancel_active_orders(
    array(
      select e.order_id
      from trading.expired_orders(expire_orders.market_id, v_at, expire_orders.most) as e
    ),
    'expired',
    v_at
  );
end
$$;

comment on function trading.expire_orders(bigint, int) is
  'Cancels the orders of trading.expired_orders in a market, all of them or at most so many; '
  'returns how many. The caller holds the lock of the market.';
