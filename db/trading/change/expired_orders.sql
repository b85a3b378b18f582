create or replace function trading.expired_orders(market_id bigint, at timestamptz, most int)
returns table (order_id bigint)
language sql stable
begin atomic
  select b.order_id
  from trading.active_orders as b
  cross join lateral (
    select x.close_time
    from catalog.markets as x
    where x.id = b.market_id
    limit 1
  ) as m
  where b.market_id = expired_orders.market_id
    and b.expires_at <= expired_orders.at
    and b.queue_position is not null
    and (m.close_time is null or b.expires_at < m.close_time)
  order by b.expires_at
  limit expired_orders.most;
end;

comment on function trading.expired_orders(bigint, timestamptz, int) is
  'Resting orders of a market that are past their expiry at a time, those that have waited longest '
  'first, at most so many. Without those that expire when the market has closed: its closing '
  'cancels them.';
