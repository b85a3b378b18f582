create or replace function trading.close_market(market_id bigint, most int default null)
returns int
language plpgsql
as $$
declare
  v_at timestamptz := core.now();
  v_order_ids bigint[];
  v_owners bigint[];
  v_count int;
begin
  perform from catalog.markets as m
  where m.id = close_market.market_id
    and m.status in ('open', 'paused')
    and m.close_time <= v_at;
  if not found then
    return 0;
  end if;

  -- Past its close time the market takes no orders, so piece by piece its book gets empty.
  v_order_ids := trading.active_orders_of_market(close_market.market_id, close_market.most);
  v_count := cardinality(v_order_ids);
  if close_market.most is null or v_count < close_market.most then
    perform trading.change_market_status(close_market.market_id, 'closed');
    return v_count + 1;
  end if;
  v_owners := array(
    select distinct o.user_id from trading.orders as o where o.id = any (v_order_ids)
  );
  perform trading.close_market_orders(close_market.market_id, v_order_ids, v_at);
  perform trading.announce_closing(close_market.market_id, v_owners);
  return v_count;
end
$$;

comment on function trading.close_market(bigint, int) is
  'Closes a market that is past its close time, at once or as much of it as is done by cancelling '
  'so many orders; returns how many it cancelled, and one more for the market. 0: it is not due. '
  'The caller holds the market''s lock.';
