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
set enable_memoize = off
as $$
declare
  v_requests trading.order_request[];
  v_market_ids bigint[];
  v_locked_ids bigint[];
  v_busy boolean[];
  v_markets trading.market_context[];
  v_at timestamptz;
  v_batch trading.matched_batch;
  v_rejections api.result[];
begin
  v_requests := array(select r from trading.read_requests(place_orders.orders) as r);
  if cardinality(v_requests) = 1 then
    v_market_ids := array[(v_requests[1]).market_id];
  else
    v_market_ids := array(
      select distinct r.market_id from unnest(v_requests) as r order by r.market_id nulls last -- mutant: markets_in_another_order
    );
  end if;
  v_locked_ids := v_market_ids;
  if place_orders.waits then -- mutant: busy_market_waited_for
    perform trading.lock_markets(v_market_ids);
  else
    v_locked_ids := trading.lock_free_markets(v_market_ids);
    if cardinality(v_locked_ids) < cardinality(v_market_ids) then
      v_busy := array(
        select array_position(v_locked_ids, r.market_id) is null from unnest(v_requests) as r
      );
      v_requests := trading.requests_of_markets(v_requests, v_locked_ids);
    end if;
  end if;
  if v_busy is not null and (place_orders.atomic or cardinality(v_requests) = 0) then -- mutant: atomic_beside_a_busy_market
    return query
      select 'MARKET_BUSY', null::text, false, null::text
      from unnest(v_busy);
    return;
  end if;
  if cardinality(v_requests) > 0 then
    v_at := core.now();
    v_markets := trading.read_markets(v_locked_ids, v_at);
    if not place_orders.atomic then -- mutant: atomic_in_part
      v_batch := trading.match_batch(v_markets, v_requests, v_at);
    else
      v_batch := trading.match_as_one(v_markets, v_requests, v_at, atomic => true);
      v_rejections := trading.atomic_rejections(v_batch, cardinality(v_requests));
    end if;
  end if;

  if v_rejections is not null then
    return query select r.* from unnest(v_rejections) as r;
  elsif v_busy is null and cardinality(v_requests) > 0 then
    return query
      select a.* from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a;
  elsif v_busy is not null then
    return query
      select
        case when b.is_busy then 'MARKET_BUSY' else a.code end,
        a.message,
        coalesce(a.replayed, false),
        a.body
      from (
        select
          u.is_busy, u.place, count(*) filter (where not u.is_busy) over (order by u.place) as nth
        from unnest(v_busy) with ordinality as u (is_busy, place)
      ) as b
      left join (
        select x.*
        from trading.order_answers(v_batch, trading.write_batch(v_batch))
          with ordinality as x (code, message, replayed, body, place)
      ) as a on a.place = b.nth and not b.is_busy -- mutant: answers_beside_a_busy_market
      order by b.place;
  end if;
end
$$;

comment on function api.place_orders(jsonb, boolean, boolean) is
  'Places orders of any markets in one transaction. One row for each element of orders, in their '
  'order. An element is {marketId, userId, side, price, quantity, budgetCents, orderType, '
  'timeInForce, selfTrade, idempotencyKey, requestFingerprint, expiresAt, postOnly}, as '
  'trading.read_requests has it. Each stands alone: its rejection is its row; atomic: if one is '
  'rejected, no order is placed, and the rows of the others have neither code nor body, unless all '
  'are CONFLICT_RETRY. waits => '
  'false: orders of markets whose lock is held are MARKET_BUSY, and must be placed again; in an '
  'atomic call all of them are. CONFLICT_RETRY: the call cancelled as many makers as one call '
  'may, and the request must be placed again. Locks: the markets, ascending; then the takers and '
  'the makers they can reach, by ascending user id. May fail as a whole with 40001, 40P01 or '
  '55P03: call it again.';
