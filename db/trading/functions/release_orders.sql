create or replace function trading.release_orders(market_ids bigint[], most int)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant timestamptz := core.now();
  v_market_ids bigint[];
  v_markets trading.market_context[];
  v_requests trading.order_request[];
  v_batch trading.matched_batch;
  v_orders trading.placed_order[];
begin
  v_requests := trading.due_requests(release_orders.market_ids, release_orders.most, v_at);
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  v_market_ids := array(
    select distinct r.market_id from unnest(v_requests) as r order by r.market_id
  );
  v_requests := trading.requests_of_markets(v_requests, v_market_ids);
  v_markets := trading.read_markets(v_market_ids, v_at);
  for i in 1 .. cardinality(v_markets) loop
    v_markets[i].live_delay_ms := null; -- the orders have waited
  end loop;
  v_batch := trading.match_batch(v_markets, v_requests, v_at);
  v_orders := trading.placed_orders(v_batch);
  perform trading.write_released(v_batch, v_orders);
  perform trading.announce_released(v_batch, v_orders);
  perform trading.write_batch(v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint[], int) is
  'Releases what is due of the scheduled orders of some markets, at most so many, in the order of '
  'their release time and then of their acceptance: each is judged and matched as if it had just '
  'been placed, and a rejection cancels it. Returns how many, with those that are not finished and '
  'stay due. The caller holds the locks of the markets. Locks the users of the orders and the '
  'makers they can reach, by ascending user id.';
