create or replace function trading.place_orders(market_public_id uuid, requests jsonb)
returns setof api.outcome
language plpgsql
set search_path = ''
as $$
declare
  v_market_id bigint;
  v_context trading.market_context;
  v_requests trading.order_request[];
  v_has_keys constant boolean := jsonb_path_exists(
    place_orders.requests, '$[*].idempotencyKey ? (@ != null)'
  );
  v_slice trading.book_slice;
  v_user_ids bigint[];
  v_locked bigint[];
  v_result trading.match_result;
  v_depth int := 1;
begin
  v_requests := trading.read_requests(place_orders.requests);
  if v_requests is null then
    return;
  end if;

  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = place_orders.market_public_id;
  perform trading.lock_market(v_market_id);

  loop
    v_slice := trading.read_book_slice(v_market_id, v_requests, core.now(), v_depth);

    select array_agg(distinct u.user_id) into v_user_ids
    from (
      select r.user_id from unnest(v_requests) as r
      union all
      select r.user_id from unnest(v_slice.orders) as r
    ) as u
    where u.user_id is not null;
    if v_locked is null then
      perform trading.lock_traders(v_user_ids);
    else
      perform trading.lock_more_traders(array(
        select u from unnest(v_user_ids) as u where u <> all (v_locked)
      ));
    end if;
    v_locked := v_user_ids;

    v_context := trading.read_context(v_market_id);
    if v_has_keys then
      v_requests := trading.read_replays(v_requests, v_context.at);
    end if;
    v_result := trading.match_orders(
      v_context,
      v_requests,
      v_slice,
      trading.read_traders(v_market_id, v_user_ids, v_context.at)
    );
    exit when not v_result.reached_floor;
    -- Dead makers made the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;

  if v_result.changes > 0 then
    perform trading.settle_orders(v_context, v_requests, v_result);
    perform trading.announce_orders(v_context, v_result);
  end if;
  return query select * from trading.outcomes_of_orders(v_context, v_requests, v_result);
end
$$;

comment on function trading.place_orders(uuid, jsonb) is
  'Carries out a batch of orders for one market: admit, match, settle, announce. One row for each '
  'request, in their order; a refusal is a row like any other. Locks: the market, then the takers '
  'and the makers they can reach by ascending account. May end with lock_not_available or '
  'deadlock_detected, and is then to be called again.';
