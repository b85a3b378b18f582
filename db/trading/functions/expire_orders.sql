create or replace function trading.expire_orders(market_id bigint, most int default null)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_at timestamptz := core.now();
begin
  return trading.cancel_open_orders(
    expire_orders.market_id,
    array(
      select b.order_id
      from trading.open_orders as b
      cross join lateral (
        select x.close_time
        from catalog.markets as x
        where x.id = b.market_id
        limit 1
      ) as m
      where b.market_id = expire_orders.market_id
        and b.expires_at <= v_at
        and b.queue_position is not null
        and (m.close_time is null or b.expires_at < m.close_time)
      order by b.expires_at
      limit expire_orders.most
    ),
    'expired',
    v_at,
    true
  );
end
$$;

comment on function trading.expire_orders(bigint, int) is
  'Cancels the resting orders of a market that are past their expiry, all or at most so many; '
  'returns how many. Not those that the market''s close time came first for, which are cancelled '
  'by its closing, nor scheduled ones, which expire when they are released. The caller holds the '
  'market''s lock.';
