create or replace function trading.expire_orders(order_ids bigint[])
returns int
language plpgsql
as $$
declare
  v_at timestamptz := core.now();
begin
  return trading.cancel_active_orders(
    array(
      select b.order_id
      from unnest(expire_orders.order_ids) as u (order_id)
      cross join lateral (
        select x.order_id, x.market_id, x.expires_at
        from trading.active_orders as x
        where x.order_id = u.order_id
          and x.queue_position is not null
        limit 1
      ) as b
      cross join lateral (
        select x.close_time
        from catalog.markets as x
        where x.id = b.market_id
        limit 1
      ) as m
      where b.expires_at <= v_at
        and (m.close_time is null or b.expires_at < m.close_time)
    ),
    'expired',
    v_at
  );
end
$$;

comment on function trading.expire_orders(bigint[]) is
  'Cancels those of some orders that are past their expiry; returns how many. Orders that expire '
  'at the close time of their market or later are left to its closing, scheduled ones to their '
  'release. The caller holds the locks of the markets.';
