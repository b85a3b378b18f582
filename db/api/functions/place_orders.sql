-- The planner settings make every plan of the engine nested look-ups by index, planned once: its
-- sets are small whatever the statistics of the tables say today.
create or replace function api.place_orders(
  orders jsonb, atomic boolean default false, waits boolean default true
)
returns setof api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
declare
  v_requests trading.order_request[];
  v_market_ids bigint[];
  v_at timestamptz;
  v_batch trading.matched_batch;
begin
  v_requests := array(select r from trading.read_requests(place_orders.orders) as r);
  if cardinality(v_requests) = 0 then
    return;
  end if;
  v_market_ids := array(
    select distinct r.market_id from unnest(v_requests) as r order by r.market_id nulls last
  );
  perform trading.lock_markets(v_market_ids);
  v_at := core.now();
  v_batch := trading.match_batch(
    trading.read_markets(v_market_ids, v_at), v_requests, v_at
  );
  return query
    select a.* from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets in one transaction: match, account, write, announce. One row for '
  'each element of orders, in their order. An element is {marketId, userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: '
  'its rejection is its row. CONFLICT_RETRY: the call cancelled as many makers as one may, and the '
  'request is to be placed again. Locks: the markets, ascending; then the takers and the makers '
  'they can reach, by ascending user id. May fail as a whole with 40001, 40P01 or 55P03, and is '
  'then to be called again.';
