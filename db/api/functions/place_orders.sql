-- The planner settings make every plan of the engine nested look-ups by index, planned once: its
-- sets are small whatever the statistics of the tables say today.
create or replace function api.place_orders(market_id uuid, requests jsonb)
returns setof api.outcome
language plpgsql volatile security definer
set search_path = ''
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
  v_slice trading.book_slice;
  v_traders trading.trader_arrays;
  v_holdings trading.holding_arrays;
  v_limits trading.limit_arrays;
  v_money trading.market_money;
  v_result trading.match_result;
  v_answer api.outcome;
  v_depth int := 1;
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

  if cardinality(v_requests) = 1
    and not v_has_keys
    and not trading.crosses(v_requests[1], v_context)
  then
    return next trading.rest_order(v_requests[1], v_context);
    return;
  end if;

  select m.* into v_money
  from trading.read_money(v_market_id, v_context.category_id, v_at) as m;
  loop
    v_slice := trading.read_book_slice(v_market_id, v_requests, v_at, v_depth);
    if v_depth > 1 then
      perform trading.lock_more_traders(v_slice);
    end if;
    v_traders := trading.lock_traders(v_requests, v_slice, v_at);
    select h.* into v_holdings
    from trading.read_holdings(v_market_id, v_traders.user_ids) as h;
    if true = any (v_traders.limited) then
      v_limits := trading.read_limits(v_traders.user_ids, v_at);
    end if;
    if v_has_keys then
      v_requests := trading.read_replays(v_requests, v_at);
    end if;

    v_result := trading.match_orders(
      v_context, v_money, v_requests, v_slice, v_traders, v_holdings, v_limits
    );
    exit when not v_result.reached_floor;
    -- Dead makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;

  if v_result.changes > 0 then
    perform trading.settle_orders(v_context, v_money, v_result);
    perform trading.announce_to_makers(v_context, v_result);
    if v_has_keys then
      perform trading.settle_keys(v_context, v_result);
    end if;
  end if;

  foreach v_answer in array trading.order_answers(v_context, v_result) loop
    return next v_answer;
  end loop;
end
$$;

comment on function api.place_orders(uuid, jsonb) is
  'Places orders in one market, in one transaction: admit, match, settle, announce. One row for '
  'each element of requests, in their order. An element is {userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: '
  'its refusal is its row. Locks: the market, then the takers and the makers they can reach, by '
  'ascending account. May fail as a whole with 40001, 40P01 or 55P03, and is then to be called '
  'again.';
