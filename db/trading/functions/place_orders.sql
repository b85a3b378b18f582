create or replace function trading.place_orders(
  orders jsonb, atomic boolean, waits boolean, most_makers int, skips boolean
)
returns setof api.result
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all constant trading.order_request[] := array(
    select r from trading.read_requests(place_orders.orders) as r
  );
  -- Those that are placed: of these markets, and no further than this.
  v_requests trading.order_request[] := v_all;
  v_market_ids bigint[];
  v_length int := cardinality(v_all);
  v_free_ids bigint[];
  v_busy_ids bigint[]; -- users who are locked elsewhere
  v_without_ids bigint[] := '{}'; -- those whose orders are left out
  v_taken_ids bigint[] := '{}'; -- markets that are left out for their makers
  v_at timestamptz;
  v_batch trading.matched_batch;
  v_answers api.result[];
begin
  if v_length = 1 then
    v_market_ids := array[(v_all[1]).market_id];
  else
    v_market_ids := array(
      select distinct r.market_id from unnest(v_all) as r order by r.market_id nulls last -- mutant: markets_in_another_order
    );
  end if;
  if place_orders.waits then -- mutant: busy_market_waited_for
    perform trading.lock_markets(v_market_ids);
  else
    v_free_ids := trading.lock_free_markets(v_market_ids);
    if cardinality(v_free_ids) < cardinality(v_market_ids) then
      v_market_ids := case when place_orders.atomic then '{}' else v_free_ids end; -- mutant: atomic_beside_a_busy_market
      v_requests := trading.requests_of_markets(v_all, v_market_ids);
    end if;
  end if;

  v_at := core.now();
  if place_orders.atomic then -- mutant: atomic_in_part
    if cardinality(v_requests) > 0 then
      v_batch := trading.match_as_one(
        trading.read_markets(v_market_ids, v_at), v_requests, v_at, atomic => true
      );
      v_answers := trading.atomic_rejections(v_batch, v_length);
    end if;
  else
    while cardinality(v_requests) > 0 loop
      v_batch := trading.match_batch(
        trading.read_markets(v_market_ids, v_at), v_requests, v_at,
        most_makers => place_orders.most_makers,
        skips => place_orders.skips
      );
      exit when (v_batch.result).results is not null;
      if cardinality(v_batch.makers) > place_orders.most_makers then
        if place_orders.waits then
          v_length := trading.orders_within(
            v_requests, v_batch.makers, place_orders.most_makers
          );
        else
          v_market_ids := trading.markets_within(
            v_market_ids, v_batch.makers, place_orders.most_makers
          );
        end if;
      else
        -- Orders of a locked user wait without the others of their market. If a maker is locked,
        -- all orders of the market wait: they may not pass over it.
        v_busy_ids := trading.lock_free_traders(
          array(select r.user_id from unnest(v_requests) as r)
          || array(select k.user_id from unnest(v_batch.makers) as k)
        );
        if exists (select from unnest(v_requests) as r where r.user_id = any (v_busy_ids)) then
          v_without_ids := v_busy_ids;
        else
          v_free_ids := trading.markets_without(v_market_ids, v_batch.makers, v_busy_ids);
          v_taken_ids := array(
            select m.id
            from unnest(v_market_ids) as m (id)
            where array_position(v_free_ids, m.id) is null
          );
          v_market_ids := v_free_ids;
        end if;
      end if;
      v_requests := trading.requests_of_markets(
        v_all[1 : v_length], v_market_ids, v_without_ids
      );
    end loop;
  end if;

  if v_answers is not null then
    return query select a.* from unnest(v_answers) as a;
  elsif cardinality(v_requests) > 0 and cardinality(v_requests) = cardinality(v_all) then
    return query
      select a.* from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a;
  else
    if cardinality(v_requests) > 0 then
      v_answers := array(
        select a from trading.order_answers(v_batch, trading.write_batch(v_batch)) as a
      );
    end if;
    return query
      select
        case
          when p.is_placed then a.code
          when v_length = 0 and p.place = 1 then 'MARKET_DEEP' -- mutant: deep_order_not_told
          when p.is_without then 'USER_BUSY' -- mutant: busy_user_not_told
          when p.is_taken then 'MAKER_BUSY' -- mutant: busy_maker_not_told
          else 'MARKET_BUSY'
        end,
        a.message,
        coalesce(a.replayed, false),
        a.body
      from (
        select
          r.place,
          r.is_placed,
          r.is_without,
          r.is_taken,
          count(*) filter (where r.is_placed) over (order by r.place) as nth
        from (
          select
            q.ordinality as place,
            q.ordinality <= v_length
              and array_position(v_market_ids, q.market_id) is not null
              and array_position(v_without_ids, q.user_id) is null as is_placed,
            array_position(v_without_ids, q.user_id) is not null as is_without,
            array_position(v_taken_ids, q.market_id) is not null as is_taken
          from unnest(v_all) with ordinality as q
        ) as r
      ) as p
      left join unnest(v_answers) with ordinality as a (code, message, replayed, body, nth)
        on a.nth = p.nth and p.is_placed -- mutant: answers_beside_a_busy_market
      order by p.place;
  end if;
end
$$;

comment on function trading.place_orders(jsonb, boolean, boolean, int, boolean) is
  'Places orders of any markets, as api.place_orders does. most_makers: how many makers the orders '
  'may meet, null for any number; not for an atomic call. If they could meet more, the first '
  'of them are tried; with waits => false instead the orders of the markets that have '
  'the fewest makers. The others are MARKET_BUSY, have no effect and must be placed again. '
  'MARKET_DEEP: the first order alone could meet more, so it must be placed by itself. skips: it '
  'does not wait for users. Orders of a user who is locked elsewhere are USER_BUSY, and all of a '
  'market in which they could meet such a user MAKER_BUSY. Not for an atomic call.';
