create or replace function trading.release_orders(market_id bigint, most int)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz;
  v_context trading.market_context;
  v_requests trading.order_request[];
  v_batch trading.matched_batch;
  v_orders trading.placed_order[];
begin
  perform trading.lock_market(release_orders.market_id);
  v_at := core.now();
  v_requests := trading.due_requests(release_orders.market_id, release_orders.most, v_at);
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  v_context := (trading.read_markets(array[release_orders.market_id], v_at))[1];
  v_context.live_delay_ms := null; -- they have waited
  v_batch := trading.match_batch(array[v_context], v_requests, v_at);
  v_orders := trading.placed_orders(v_batch);
  perform trading.write_released(v_batch, v_orders);
  perform trading.announce_released(v_batch, v_orders);
  perform trading.write_batch(v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint, int) is
  'Releases what is due of a market''s scheduled orders, at most so many, in the order of their '
  'release time and then of their acceptance: each is judged and matched as if it had just been '
  'placed, and a rejection cancels it. Returns how many. Locks as api.place_orders does.';
