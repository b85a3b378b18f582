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

-- Until the engine takes orders of several markets: one call of the above for each market.
create or replace function api.place_orders(
  orders jsonb, atomic boolean default false, waits boolean default true
)
returns setof api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count constant int := jsonb_array_length(place_orders.orders);
  v_results api.result[] := array_fill(null::api.result, array[v_count]);
  v_result api.result;
  v_busy bigint[] := '{}';
  v_first int;
  v_place int;
  v_market record;
begin
  if v_count = 0 then
    return;
  end if;
  begin
    for v_market in
      select distinct m.id
      from jsonb_array_elements(place_orders.orders) as o
      join catalog.markets as m on m.public_id = (o ->> 'marketId')::uuid
      order by m.id
    loop
      if place_orders.waits then
        perform trading.lock_market(v_market.id);
      elsif not trading.try_lock_market(v_market.id) then
        v_busy := v_busy || v_market.id;
      end if;
    end loop;

    for v_market in
      select
        m.id,
        o.value ->> 'marketId' as public_id,
        m.live_delay_ms,
        array_agg(o.place order by o.place) as places,
        jsonb_agg(o.value order by o.place) as requests
      from jsonb_array_elements(place_orders.orders) with ordinality as o (value, place)
      left join lateral (
        select x.id, c.live_delay_ms
        from catalog.markets as x
        cross join lateral trading.read_context(x.id, core.now()) as c
        where x.public_id = (o.value ->> 'marketId')::uuid
      ) as m on true
      group by m.id, o.value ->> 'marketId', m.live_delay_ms
      order by m.id
    loop
      v_place := 0;
      if v_market.id = any (v_busy) then
        foreach v_place in array v_market.places loop
          v_results[v_place] := row('MARKET_BUSY', null, false, null)::api.result;
        end loop;
        continue;
      end if;
      for v_result in
        select *
        from api.place_orders(market_id => v_market.public_id::uuid, requests => v_market.requests)
      loop
        v_place := v_place + 1;
        if place_orders.atomic and v_market.live_delay_ms is not null and v_result.code is null then
          v_result := row(
            'INVALID_REQUEST', 'atomic: not for orders on live markets', false, null
          )::api.result;
        end if;
        v_results[v_market.places[v_place]] := v_result;
      end loop;
    end loop;

    select min(r.place) into v_first
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
    where r.code is not null;
    if place_orders.atomic and v_first is not null then
      raise exception using errcode = 'EX999';
    end if;
  exception when sqlstate 'EX999' then
    v_result := v_results[v_first];
    v_results := array_fill(
      row(null, null, false, null)::api.result, array[v_count]
    );
    v_results[v_first] := v_result;
  end;
  foreach v_result in array v_results loop
    return next v_result;
  end loop;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets. waits: whether to wait for the lock of a market; without it the '
  'orders of such a market come back with MARKET_BUSY. atomic: all are accepted or none is.';
