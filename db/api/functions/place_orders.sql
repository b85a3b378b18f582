-- The planner settings make every plan of the engine nested look-ups by index, planned once: its
-- sets are small whatever the statistics of the tables say today.
create or replace function api.place_orders(market_id uuid, requests jsonb)
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
  v_has_keys constant boolean := jsonb_path_exists(
    place_orders.requests, '$[*].idempotencyKey ? (@ != null)'
  );
  v_requests trading.order_request[];
  v_market_id bigint;
  v_at timestamptz;
  v_context trading.market_context;
  v_maker trading.resting_order;
  v_holds_users boolean := false;
  v_batch trading.matched_batch;
  v_answer api.result;
begin
  v_requests := array(
    select r from trading.read_requests(place_orders.requests) as r
  );
  if cardinality(v_requests) = 0 then
    return;
  end if;

  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = place_orders.market_id;
  perform trading.lock_market(v_market_id);
  v_at := core.now();
  select c.* into v_context
  from trading.read_context(v_market_id, v_at) as c;

  if cardinality(v_requests) = 1 and not v_has_keys and v_context.live_delay_ms is null then
    if not trading.crosses(v_requests[1], v_context) then
      v_answer := trading.rest_order(v_requests[1], v_context);
    else
      v_maker := trading.sole_maker(v_requests[1], v_context);
      if v_maker.order_id is not null then
        v_answer := trading.fill_order(v_requests[1], v_context, v_maker);
        v_holds_users := true;
      end if;
    end if;
    if v_answer.replayed is not null then
      return next v_answer;
      return;
    end if;
  end if;

  v_batch := trading.match_batch(v_context, v_requests, v_has_keys, v_holds_users);
  perform trading.settle_batch(v_context, v_batch);
  if v_has_keys then
    perform trading.settle_keys(v_context, v_batch.result);
  end if;

  foreach v_answer in array trading.order_answers(v_context, v_batch.result) loop
    return next v_answer;
  end loop;
end
$$;

comment on function api.place_orders(uuid, jsonb) is
  'Places orders in one market, in one transaction: admit, match, settle, announce. One row for '
  'each element of requests, in their order. An element is {userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: '
  'its refusal is its row. CONFLICT_RETRY: the call cancelled as many makers as one may, and the '
  'request is to be placed again. Locks: the market, then the takers and the makers they can '
  'reach, by ascending account. May fail as a whole with 40001, 40P01 or 55P03, and is then to be '
  'called again.';
