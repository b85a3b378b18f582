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
  v_market_id bigint;
  v_requests trading.order_request[];
  v_slice trading.book_slice;
  v_user_ids bigint[];
  v_context trading.market_context;
  v_money trading.market_money;
  v_traders trading.trader_arrays;
  v_holdings trading.holding_arrays;
  v_limits trading.limit_arrays;
  v_is_busy boolean;
  v_result trading.match_result;
  v_depth int := 1;
begin
  v_requests := trading.read_requests(place_orders.requests);
  if v_requests is null then
    return;
  end if;

  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = place_orders.market_id;
  perform trading.lock_market(v_market_id);

  loop
    v_slice := trading.read_book_slice(v_market_id, v_requests, core.now(), v_depth);
    if v_user_ids is null then
      v_user_ids := trading.lock_traders(v_requests, v_slice);
    else
      v_user_ids := v_user_ids || trading.lock_more_traders(v_slice, v_user_ids);
    end if;

    v_context := trading.read_context(v_market_id);
    v_traders := trading.read_traders(v_user_ids, v_context.at);
    if true = any (v_traders.limited) then
      v_limits := trading.read_limits(v_user_ids, v_context.at);
    end if;
    if v_has_keys then
      v_requests := trading.read_replays(v_requests, v_context.at);
    end if;
    -- A lone order that meets nothing needs no fee, and holdings only if it is a sale.
    v_is_busy := cardinality(v_requests) > 1 or cardinality(v_slice.orders) > 0;
    if v_is_busy then
      v_money := trading.read_money(v_context);
    end if;
    if v_is_busy or (v_requests[1]).order_type = 'sell' then
      v_holdings := trading.read_holdings(v_market_id, v_traders.user_ids);
    end if;
    v_result := trading.match_orders(
      v_context, v_money, v_requests, v_slice, v_traders, v_holdings, v_limits
    );
    exit when not v_result.reached_floor;
    -- Dead makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;

  if v_result.changes > 0 then
    perform trading.announce_orders(
      v_context, v_result, trading.settle_orders(v_context, v_money, v_result)
    );
    if v_has_keys then
      perform trading.settle_keys(v_context, v_result);
    end if;
  end if;
  return query select * from trading.order_answers(v_context, v_result);
end
$$;

comment on function api.place_orders(uuid, jsonb) is
  'Places orders in one market, in one transaction: admit, match, settle, announce. One row for '
  'each element of requests, in their order. An element is {userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: '
  'its refusal is its row. Locks: the market, then the takers and the makers they can reach, by '
  'ascending account. May fail as a whole with 40001, 40P01 or 55P03, and is then to be called '
  'again.';
