--! Previous: sha1:4aa99e18cf2150a93f05ec5aafada2dd1eeed60c
--! Hash: sha1:4e810ad3ab4351e38e98126f87ec79e502ee9c8d
--! Message: Bound the makers that a call meets beside others

set local lock_timeout = '2s';
set local role exchange_owner;
-- Calls under way find the new functions under the old names: their further argument has a default.
drop function trading.read_book_slice(
  trading.market_context[], trading.order_request[], int[], int
);
drop function trading.match_batch(
  trading.market_context[], trading.order_request[], timestamptz, boolean, boolean
);
drop function trading.replace_order(
  trading.market_context, trading.orders, int, int, boolean
);
drop function trading.amend_order(uuid, uuid, int, int);
drop function trading.requests_of_markets(trading.order_request[], bigint[]);
drop function api.place_orders_versioned(jsonb, boolean, boolean);
drop function api.run_command(text, uuid, uuid, uuid, int, int, uuid, uuid);
--! Included trading/functions/most_makers.sql
create or replace function trading.most_makers(delays_others boolean)
returns int
language sql immutable parallel safe
return case when most_makers.delays_others then 250 else 500 end;

comment on function trading.most_makers(boolean) is
  'How many makers a bounded call may meet, at some 50 us each to match and write: fewer if other '
  'markets wait for it.';
--! EndIncluded trading/functions/most_makers.sql
--! Included trading/functions/lock_free_traders.sql
create or replace function trading.lock_free_traders(user_ids bigint[])
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked constant bigint[] := array(
    select t.user_id
    from trading.traders as t
    where t.user_id = any (lock_free_traders.user_ids)
    for no key update skip locked -- mutant: free_traders_not_locked
  );
begin
  if cardinality(v_locked) = cardinality(lock_free_traders.user_ids) then
    return '{}';
  elsif cardinality(v_locked)
    = (select count(distinct u.id) from unnest(lock_free_traders.user_ids) as u (id))
  then
    return '{}';
  end if;
  return array(
    select t.user_id
    from trading.traders as t
    where t.user_id = any (lock_free_traders.user_ids) and t.user_id <> all (v_locked)
  );
end
$$;

comment on function trading.lock_free_traders(bigint[]) is
  'Locks those of the users that no other transaction has locked, until this one ends; returns the '
  'others. It waits for nobody.';
--! EndIncluded trading/functions/lock_free_traders.sql
--! Included trading/functions/read_book_slice.sql
create or replace function trading.read_book_slice(
  markets trading.market_context[],
  requests trading.order_request[],
  demand int[],
  depth int,
  most_makers int default null
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slice trading.book_slice;
  v_factor bigint := 1;
  v_is_enough boolean;
begin
  loop
    with sides as materialized (
      -- What takers ask of each side of each book that some of them cross.
      select
        m.market, m.market_id, m.at,
        case r.book_side when 'yes' then 'no' else 'yes' end::trading.side as book_side,
        case r.book_side when 'yes' then m.best_no_price else m.best_yes_price end as best_price,
        case r.book_side
          when 'yes' then m.first_no_position else m.first_yes_position
        end as first_position,
        100 - max(r.book_price) as worst_price,
        sum(read_book_slice.demand[r.place]) * read_book_slice.depth as shares,
        least(
          (16 + 2 * count(*)) * v_factor, read_book_slice.most_makers + 1
        ) as most_orders
      from unnest(read_book_slice.requests) with ordinality as r (
        market, market_id, user_id, side, order_type, price, quantity, budget_cents, time_in_force,
        post_only, expires_at, idempotency_key, book_side, book_price, problem, is_market,
        relieved_cents, order_id, order_public_id, created_at, request_fingerprint,
        cancels_own, place
      )
      join (
        select c.*, c.ordinality::int as market
        from unnest(read_book_slice.markets) with ordinality as c
      ) as m on m.market = r.market
      where m.live_delay_ms is null
        and r.problem is null
        and r.book_price + case r.book_side
          when 'yes' then m.best_no_price else m.best_yes_price
        end >= 100 -- mutant: touching_prices_not_read
      group by
        m.market, m.market_id, m.at, r.book_side, m.best_yes_price, m.best_no_price,
        m.first_yes_position, m.first_no_position
    ),
    read as materialized (
      select
        s.market, s.shares, s.most_orders, s.at, b.*,
        row_number() over queue as number,
        sum(a.available) over queue - a.available as shares_before,
        count(*) over side as side_orders,
        sum(a.available) over side as side_shares
      from sides as s
      cross join lateral (
        -- The rest of the best queue, and then what is behind; an append reads them in this order.
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price = s.best_price
            and x.queue_position >= s.first_position
          order by x.queue_position -- mutant: queue_reversed
          limit s.most_orders
        )
        union all
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = s.market_id
            and x.book_side = s.book_side
            and x.book_price < s.best_price
            and x.book_price >= s.worst_price
            and x.queue_position is not null
          order by x.book_price desc, x.queue_position
          limit s.most_orders
        )
        limit s.most_orders
      ) as b
      cross join lateral (
        select case when b.expires_at <= s.at then 0 else b.left_quantity end as available
      ) as a
      window
        side as (partition by s.market, b.book_side),
        queue as (
          side order by b.book_price desc, b.queue_position rows unbounded preceding
        )
    ),
    kept as materialized (
      select r.* from read as r where r.shares_before < r.shares
    ),
    floors as (
      -- A side goes on if not all that was read is needed, or if there may be more to read.
      select
        k.market, k.book_side, min(k.book_price) as floor_price,
        max(k.side_orders) = max(k.most_orders)
          and max(k.side_shares) < max(k.shares)
          -- A call that meets more does not get further.
          and count(*) filter (where k.expires_at <= k.at)
            <= trading.most_cancelled() * read_book_slice.depth
          as is_cut_short,
        max(k.number) < max(k.side_orders) or max(k.side_orders) = max(k.most_orders)
          as goes_on
      from kept as k
      group by k.market, k.book_side
    )
    select
      (
        select array_agg(
          (
            k.order_id, k.order_public_id, k.market, k.user_id, k.order_type, k.book_side,
            k.book_price, k.queue_position, k.left_quantity, coalesce(k.expires_at <= k.at, false) -- mutant: maker_lives_a_moment_longer
          )::trading.resting_order
          order by k.market, k.book_side, k.number
        )
        from kept as k
      ),
      array_agg(
        coalesce(
          (
            select f.floor_price
            from floors as f
            where f.market = u.place and f.book_side = 'yes' and f.goes_on
          ),
          0
        )
        order by u.place
      ),
      array_agg(
        coalesce(
          (
            select f.floor_price
            from floors as f
            where f.market = u.place and f.book_side = 'no' and f.goes_on
          ),
          0
        )
        order by u.place
      ),
      not exists (select from floors as f where f.is_cut_short)
    into v_slice.makers, v_slice.yes_floors, v_slice.no_floors, v_is_enough
    from generate_series(1, cardinality(read_book_slice.markets)) as u (place);
    exit when v_is_enough or cardinality(v_slice.makers) > read_book_slice.most_makers;
    v_factor := v_factor * 8;
  end loop;
  v_slice.makers := coalesce(v_slice.makers, '{}');
  return v_slice;
end
$$;

comment on function trading.read_book_slice(
  trading.market_context[], trading.order_request[], int[], int, int
) is
  'The resting orders that a batch can reach, in price-time order, no deeper than its requests '
  'could take if their demand (trading.read_reach) were depth times as large. With more than '
  'most_makers the slice may be cut short. Nothing else can change the books meanwhile: the caller '
  'holds the markets'' locks.';
--! EndIncluded trading/functions/read_book_slice.sql
--! Included trading/functions/match_batch.sql
create or replace function trading.match_batch(
  markets trading.market_context[],
  requests trading.order_request[],
  at timestamptz,
  locks boolean default true,
  is_final boolean default false,
  most_makers int default null,
  skips boolean default false
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch trading.matched_batch;
  v_plan constant trading.reading_plan := trading.plan_reading(
    match_batch.markets, match_batch.requests
  );
  v_slice trading.book_slice;
  v_limits trading.limit_arrays;
  v_replays bigint[];
  v_depth int := 1;
  v_demand int[];
  v_shares_before_own bigint[];
  v_user_ids bigint[];
begin
  v_batch.at := match_batch.at;
  v_batch.markets := match_batch.markets;
  v_batch.requests := match_batch.requests;
  v_batch.market_arrays := v_plan.market_arrays;

  if v_plan.meets_makers and v_plan.is_large then
    select r.demand, r.shares_before_own into v_demand, v_shares_before_own
    from trading.read_reach(match_batch.markets, match_batch.requests) as r;
  elsif v_plan.meets_makers then
    v_demand := v_plan.quantities;
    v_shares_before_own := array_fill(0::bigint, array[cardinality(match_batch.requests)]);
  end if;
  loop
    if not v_plan.meets_makers then
      v_slice := (
        '{}', array_fill(0, array[cardinality(match_batch.markets)]),
        array_fill(0, array[cardinality(match_batch.markets)])
      );
    else
      v_slice := null;
      if v_plan.is_single and not v_plan.is_large and v_depth = 1 then
        v_slice := trading.read_best_queue(match_batch.markets[1], match_batch.requests[1]);
      end if;
      if v_slice.makers is null then
        v_slice := trading.read_book_slice(
          match_batch.markets, match_batch.requests, v_demand, v_depth, match_batch.most_makers
        );
      end if;
    end if;
    v_batch.makers := v_slice.makers;
    exit when cardinality(v_slice.makers) > match_batch.most_makers;
    v_user_ids := v_plan.user_ids;
    if cardinality(v_slice.makers) > 0 then
      v_user_ids := v_user_ids || array(select k.user_id from unnest(v_slice.makers) as k);
    end if;
    if match_batch.skips and v_depth = 1 then
      exit when cardinality(trading.lock_free_traders(v_user_ids)) > 0; -- mutant: locked_trader_matched
    elsif match_batch.locks and v_depth = 1 and not match_batch.is_final then
      perform trading.lock_traders(v_user_ids); -- mutant: makers_before_the_taker
    elsif match_batch.locks then
      perform trading.lock_more_traders(v_user_ids);
    end if;
    v_batch.traders := trading.read_traders(v_user_ids, match_batch.at);
    if v_plan.may_sell or v_plan.meets_makers or cardinality(match_batch.requests) > 1 then
      v_batch.holdings := trading.read_holdings(
        match_batch.markets, match_batch.requests, v_slice.makers,
        (v_batch.traders).user_ids
      );
      v_batch.shares := trading.read_share_arrays(v_batch.holdings);
    end if;
    if true = any ((v_batch.traders).limited) then
      v_limits := trading.read_limits(
        (v_batch.traders).user_ids, v_plan.user_ids, match_batch.at
      );
    end if;
    if v_plan.has_keys then
      v_replays := trading.read_replays(match_batch.requests, match_batch.at);
    end if;

    v_batch.request_arrays := trading.read_request_arrays(v_batch, v_slice, v_plan.has_keys);
    if cardinality(v_slice.makers) > 0 then
      v_batch.maker_arrays := trading.read_maker_arrays(v_batch);
    end if;
    v_batch.result := trading.match_orders(
      v_batch, v_limits, v_replays, v_shares_before_own,
      trading.most_cancelled(), match_batch.locks, match_batch.is_final
    );
    exit when not (v_batch.result).reached_floor;
    -- Cancelled makers let the batch reach deeper than it could have otherwise.
    v_depth := v_depth * 4;
  end loop;
  return v_batch;
end
$$;

comment on function trading.match_batch(
  trading.market_context[], trading.order_request[], timestamptz, boolean, boolean, int, boolean
) is
  'Reads all that a batch can reach and matches it; nothing is written yet. The caller holds the '
  'markets'' locks. Locks the takers and the makers they can reach, by ascending user id; not '
  'with locks => false, for a preview, which is always finished. is_final: a request that would '
  'not be finished (CONFLICT_RETRY) ends where it has come; the caller has locked users before. '
  'most_makers: a batch that could meet more is not matched; it comes back with these, at least as '
  'many of each market as show that, and without a result. skips: nor is it matched if another '
  'transaction has locked one of its users; it waits for none of them.';
--! EndIncluded trading/functions/match_batch.sql
--! Included trading/functions/requests_of_markets.sql
create or replace function trading.requests_of_markets(
  requests trading.order_request[],
  market_ids bigint[],
  without_user_ids bigint[] default '{}'
)
returns trading.order_request[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept trading.order_request[] := '{}';
  v_request trading.order_request;
begin
  foreach v_request in array requests_of_markets.requests loop
    v_request.market := array_position(market_ids, v_request.market_id); -- mutant: places_beside_a_busy_market
    if v_request.market is not null
      and array_position(without_user_ids, v_request.user_id) is null -- mutant: busy_taker_overlooked
    then
      v_kept := v_kept || v_request;
    end if;
  end loop;
  return v_kept;
end
$$;

comment on function trading.requests_of_markets(
  trading.order_request[], bigint[], bigint[]
) is
  'Those of the requests that are for certain markets, with their places among these, and not of '
  'certain users.';
--! EndIncluded trading/functions/requests_of_markets.sql
--! Included trading/functions/markets_within.sql
create or replace function trading.markets_within(
  market_ids bigint[], makers trading.resting_order[], most_makers int
)
returns bigint[]
language sql immutable
set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(array_agg(s.market_id order by s.place), '{}')
  from (
    select
      c.market_id, c.place,
      sum(c.makers) over (order by c.makers, c.place rows unbounded preceding) as makers_so_far -- mutant: deep_book_displaces
    from (
      select u.market_id, u.place, count(k.market) as makers
      from unnest(markets_within.market_ids) with ordinality as u (market_id, place)
      left join unnest(markets_within.makers) as k on k.market = u.place
      group by u.market_id, u.place
    ) as c
  ) as s
  where s.makers_so_far <= markets_within.most_makers;
end;

comment on function trading.markets_within(bigint[], trading.resting_order[], int) is
  'The markets of a batch, in their order, that have no more than so many makers of it together. '
  'Those with few makers come first, so that nobody else''s deep book displaces them.';
--! EndIncluded trading/functions/markets_within.sql
--! Included trading/functions/orders_within.sql
create or replace function trading.orders_within(
  requests trading.order_request[], makers trading.resting_order[], most_makers int
)
returns int
language sql immutable
set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when cardinality(orders_within.requests) > 1
      then greatest(1, least(count(*) filter (where w.shares <= h.shares), count(*) * 3 / 4))
    else 0
  end::int
  from (
    select
      sum(
        case when r.book_price + b.book_price >= 100 then coalesce(r.quantity, 10000) else 0 end
      ) over (order by r.ordinality rows unbounded preceding) as shares
    from unnest(orders_within.requests) with ordinality as r
    left join (
      select k.market, k.book_side, max(k.book_price) as book_price
      from unnest(orders_within.makers) as k
      group by k.market, k.book_side
    ) as b on b.market = r.market and b.book_side <> r.book_side
  ) as w
  cross join (
    select sum(k.left_quantity) as shares
    from unnest(orders_within.makers[1 : orders_within.most_makers]) as k
  ) as h;
end;

comment on function trading.orders_within(
  trading.order_request[], trading.resting_order[], int
) is
  'How many of the requests, from the first one on, may be tried next when all of them could meet '
  'more than so many makers: about as many as these have shares for, at most three quarters of '
  'them, and at least one. A single one leaves 0.';
--! EndIncluded trading/functions/orders_within.sql
--! Included trading/functions/markets_without.sql
create or replace function trading.markets_without(
  market_ids bigint[], makers trading.resting_order[], user_ids bigint[]
)
returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_places constant bigint[] := array(
    select distinct k.market::bigint
    from unnest(markets_without.makers) as k
    where k.user_id = any (markets_without.user_ids) -- mutant: busy_maker_overlooked
  );
begin
  return array(
    select u.market_id
    from unnest(markets_without.market_ids) with ordinality as u (market_id, place)
    where u.place <> all (v_places)
    order by u.place
  );
end
$$;

comment on function trading.markets_without(bigint[], trading.resting_order[], bigint[]) is
  'The markets of a batch, in their order, in which none of these users is a maker of it.';
--! EndIncluded trading/functions/markets_without.sql
--! Included trading/functions/place_orders.sql
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
--! EndIncluded trading/functions/place_orders.sql
--! Included trading/functions/replace_order.sql
create or replace function trading.replace_order(
  context trading.market_context,
  "order" trading.orders,
  price int,
  quantity int,
  is_priced boolean,
  most_makers int default null
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_active_order trading.active_orders;
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_result trading.order_result;
  v_written trading.written_batch;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

  v_request.market := 1;
  v_request.market_id := ("order").market_id;
  v_request.user_id := ("order").user_id;
  v_request.side := ("order").side;
  v_request.order_type := ("order").order_type;
  v_request.price := replace_order.price;
  v_request.quantity := replace_order.quantity - ("order").filled_quantity; -- mutant: amend_forgets_fills
  v_request.time_in_force := ("order").time_in_force;
  v_request.post_only := ("order").post_only;
  v_request.expires_at := ("order").expires_at;
  v_request.book_side := v_active_order.book_side;
  v_request.book_price := case ("order").order_type
    when 'buy' then replace_order.price
    else 100 - replace_order.price
  end;
  -- What never rests and still has the protection price came without one.
  v_request.is_market := not replace_order.is_priced
    and ("order").time_in_force <> 'gtc'
    and v_request.book_price = 99;
  v_request.cancels_own := v_active_order.cancels_own;
  v_request.relieved_cents := trading.active_order_cost_cents(v_active_order, context.at);

  v_batch := trading.match_batch(
    array[context], array[v_request], context.at, most_makers => replace_order.most_makers
  );
  if (v_batch.result).results is null then
    return ('MARKET_DEEP', null, false, null)::api.result;
  end if;
  v_result := (v_batch.result).results[1];
  if v_result.code is not null then
    if v_result.code = 'CONFLICT_RETRY' then
      -- The makers that it had to cancel so far stay cancelled, or it would meet them again.
      perform trading.write_batch(v_batch);
    end if;
    return (v_result.code, null, false, null)::api.result;
  end if;

  -- An order that is matched at once is counted with the order that it replaces, as one change.
  perform trading.end_active_orders(
    array[("order").id], 'user_amended', context.at,
    expires => false, counted => context.live_delay_ms is not null
  );
  v_written := trading.write_batch(v_batch);
  insert into trading.order_replacements (order_id, replaced_order_id)
  values ((v_written.orders[1]).id, ("order").id);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":%s,"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.order_object(
        (v_written.orders[1]).public_id,
        (v_batch.traders).public_ids[(v_batch.request_arrays).traders[1]],
        context.public_id, v_request.side, v_request.price, v_result.quantity,
        v_result.quantity - v_result.left_quantity, v_result.status, v_request.order_type, null,
        v_result.cancel_reason, v_request.expires_at, core.iso8601(context.at),
        case when v_result.status = 'scheduled' then trading.schedule_members(
          context.at + context.live_delay_ms * interval '1 millisecond', null, context.at
        ) end
      ),
      trading.fills_of_order((v_written.orders[1]).id),
      ("order").public_id,
      coalesce(v_result.fee_cents, 0)
    )
  )::api.result;
end
$$;

comment on function trading.replace_order(
  trading.market_context, trading.orders, int, int, boolean, int
) is
  'Cancels an open order (user_amended) and places another for what is left of it, at a price and '
  'with a total quantity that counts what is filled, or changes nothing if that is rejected. '
  'is_priced: the price was asked for and is not just the order''s own. MARKET_DEEP: the other '
  'order could meet more than most_makers; nothing is changed. The caller holds the market''s '
  'lock; locks as api.place_orders does.';
--! EndIncluded trading/functions/replace_order.sql
--! Included trading/functions/amend_order.sql
create or replace function trading.amend_order(
  user_public_id uuid,
  order_public_id uuid,
  price int,
  quantity int,
  most_makers int default null
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem constant text := case
    when amend_order.price is null and amend_order.quantity is null
      then 'price: required without quantity'
    else trading.terms_problem(amend_order.price, amend_order.quantity)
  end;
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = amend_order.user_public_id
  );
  v_order trading.orders;
  v_at timestamptz;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_is_open boolean;
  v_has_expired boolean;
  v_last_stopped_id bigint;
  v_is_stopped boolean;
  v_may_be_renewed boolean;
  v_price int;
  v_quantity int;
  v_code text;
  v_message text;
  v_body text;
begin
  if v_problem is not null then
    return ('INVALID_REQUEST', v_problem, false, null)::api.result;
  end if;
  select o.* into v_order
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o;
  perform trading.lock_market(v_order.market_id); -- mutant: amend_without_lock
  v_at := core.now();
  v_context := (trading.read_markets(array[v_order.market_id], v_at))[1];
  select o.* into v_order -- mutant: amend_by_an_old_look
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o; -- mutant: amend_by_an_old_look

  v_is_open := v_order.status in ('scheduled', 'open', 'partially_filled');
  v_has_expired := v_is_open and v_order.expires_at <= v_at;
  select
    trading.last_stopped_order(s, v_at, grace => '0'),
    trading.last_stopped_order(s, v_at) is null
  into v_last_stopped_id, v_may_be_renewed
  from trading.dead_man_switches as s
  where s.user_id = v_user_id;
  v_is_stopped := v_is_open
    and coalesce(v_order.id <= v_last_stopped_id, false); -- mutant: stopped_order_amended
  v_price := coalesce(amend_order.price, v_order.price);
  v_quantity := coalesce(amend_order.quantity, v_order.quantity);
  v_code := trading.amend_rejection(
    v_order, v_has_expired or v_is_stopped, amend_order.quantity
  );
  if v_code is null
    and (
      v_price <> v_order.price
      or v_quantity > v_order.quantity
      or (v_quantity < v_order.quantity and v_order.status = 'scheduled')
    )
  then
    return trading.replace_order(
      v_context, v_order, v_price, v_quantity, amend_order.price is not null,
      amend_order.most_makers
    );
  end if;

  perform trading.lock_traders(array[v_user_id]);
  v_traders := trading.read_traders(array[v_user_id], v_at);
  v_code := coalesce(
    trading.trader_rejection(
      v_context.site_paused, v_traders.user_ids is not null, v_traders.blocked_by[1]
    ),
    v_code,
    case when v_quantity <> v_order.quantity and not v_context.is_open then 'MARKET_NOT_OPEN' end
  );
  if v_code = 'ORDER_NOT_AMENDABLE' then
    -- A renewal that was in time may still be committing: then a worker decides in a moment.
    if v_has_expired or v_is_stopped and not v_may_be_renewed then -- mutant: cancelled_beside_its_renewal
      perform trading.cancel_active_orders(
        array[v_order.id], 'user_cancelled', v_at, expires => true
      );
    end if;
    v_message := 'Cannot amend order with status: '
      || case when v_has_expired or v_is_stopped then 'cancelled' else v_order.status end;
  elsif v_code is null then
    if v_quantity < v_order.quantity then
      perform trading.reduce_order(v_order, v_quantity, v_at);
    end if;
    v_body := format(
      '{"order":%s,"amended":%s,"queuePositionChanged":false}',
      trading.order_object(
        v_order.public_id, amend_order.user_public_id, v_context.public_id, v_order.side,
        v_order.price, v_quantity, v_order.filled_quantity, v_order.status, v_order.order_type,
        null, null, v_order.expires_at, core.iso8601(v_order.created_at),
        case when v_order.status = 'scheduled'
          then trading.schedule_members(v_order.release_at, null, v_at) end
      ),
      (v_quantity < v_order.quantity)::text
    );
  end if;
  return (v_code, v_message, false, v_body)::api.result;
end
$$;

comment on function trading.amend_order(uuid, uuid, int, int, int) is
  'Gives a user''s open order a new price, a new total quantity, or both; null keeps what it has. '
  'A smaller quantity at the same price keeps a resting order in its place; anything else replaces '
  'the order. The documented body of PATCH /orders/:id, or a rejection. MARKET_DEEP: the order '
  'that replaces it could meet more than most_makers; nothing is changed. An order past its expiry '
  'expires instead; one from before the expiry of its user''s dead man''s switch is cancelled. '
  'Locks: the market, then the user and the makers that a new order can reach.';
--! EndIncluded trading/functions/amend_order.sql
--! Included api/functions/place_orders.sql
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
begin
  return query
    select r.*
    from trading.place_orders(
      place_orders.orders, place_orders.atomic, place_orders.waits, most_makers => null,
      skips => false
    ) as r;
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
--! EndIncluded api/functions/place_orders.sql
--! Included api/functions/place_orders_versioned.sql
create or replace function api.place_orders_versioned(
  orders jsonb,
  atomic boolean default false,
  waits boolean default true,
  bounded boolean default false,
  skips boolean default false
)
returns table (
  code text,
  message text,
  replayed boolean,
  body text,
  market_version bigint
)
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
  v_results constant api.result[] := array(
    select r
    from trading.place_orders(
      place_orders_versioned.orders,
      place_orders_versioned.atomic,
      place_orders_versioned.waits,
      most_makers => case when place_orders_versioned.bounded then -- mutant: bounded_call_meets_all
        trading.most_makers(delays_others => not place_orders_versioned.waits)
      end,
      skips => place_orders_versioned.skips
    ) as r
  );
begin
  -- The version is that of the whole call: nobody sees one in between.
  return query
    select
      r.code, r.message, r.replayed, r.body,
      (
        select s.version
        from catalog.markets as m
        join trading.market_state as s on s.market_id = m.id
        where m.public_id
          = (place_orders_versioned.orders -> (r.place - 1)::int ->> 'marketId')::uuid
      )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place);
end
$$;

comment on function api.place_orders_versioned(jsonb, boolean, boolean, boolean, boolean) is
  'As api.place_orders, and market_version: the version of the order''s market after the call, '
  'which is the first one that shows it. Null if there is no such market. bounded: the orders of '
  'the call meet at most trading.most_makers in all. What does not fit is MARKET_BUSY, has no '
  'effect, and must be placed again by a call that waits. MARKET_DEEP: the first order of a call '
  'that waits, if it meets too many by itself; only a call without the bound can place it. skips: '
  'it does not wait for users. Orders of a user who is locked elsewhere are USER_BUSY, and all of '
  'a market where they could meet such a user MAKER_BUSY; they have no effect, and must be placed '
  'again. Not for an atomic call.';
--! EndIncluded api/functions/place_orders_versioned.sql
--! Included api/functions/run_command.sql
create or replace function api.run_command(
  command text,
  user_id uuid,
  order_id uuid default null,
  market_id uuid default null,
  price int default null,
  quantity int default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  bounded boolean default null,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out market_version bigint
)
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
  c_most_makers constant int := 50; -- of an amendment: cancels wait for it
  c_is_keyed constant boolean := run_command.idempotency_key is not null;
  v_user_id bigint;
  v_market_id bigint;
  v_result api.result;
begin
  if run_command.order_id is not null then
    select o.user_id, o.market_id into v_user_id, v_market_id
    from trading.find_order(run_command.user_id, run_command.order_id) as o;
  else
    select m.id into v_market_id
    from catalog.markets as m
    where m.public_id = run_command.market_id;
  end if;

  -- A replay waits for no lock. Under the lock of the market an identical request is over.
  if c_is_keyed then
    v_user_id := coalesce(v_user_id, (
      select t.user_id from trading.traders as t where t.public_id = run_command.user_id
    ));
    v_result := trading.find_reply(
      v_user_id, run_command.idempotency_key, run_command.request_fingerprint
    );
    if v_result.replayed is null then
      perform trading.lock_market(v_market_id);
      v_result := trading.find_reply( -- mutant: key_read_before_the_lock
        v_user_id, run_command.idempotency_key, run_command.request_fingerprint -- mutant: key_read_before_the_lock
      ); -- mutant: key_read_before_the_lock
    end if;
  end if;

  if v_result.replayed is null then
    v_result := case run_command.command
      when 'cancel' then trading.cancel_order(run_command.user_id, run_command.order_id)
      when 'amend' then trading.amend_order(
        run_command.user_id, run_command.order_id, run_command.price, run_command.quantity,
        most_makers => case when run_command.bounded then -- mutant: bounded_amendment_meets_all
          least(c_most_makers, trading.most_makers(delays_others => true))
        end
      )
      when 'split' then trading.split_position(
        run_command.user_id, run_command.market_id, run_command.quantity
      )
      when 'merge' then trading.merge_position(
        run_command.user_id, run_command.market_id, run_command.quantity
      )
    end;
    if c_is_keyed and v_result.code is null then -- mutant: reply_not_kept
      perform trading.lock_traders(array[v_user_id]);
      perform trading.keep_reply(
        v_user_id, run_command.idempotency_key, run_command.request_fingerprint, v_result.body
      );
    end if;
  end if;

  code := v_result.code;
  message := v_result.message;
  replayed := v_result.replayed;
  body := v_result.body;
  market_version := (
    select s.version from trading.market_state as s where s.market_id = v_market_id
  );
end
$$;

comment on function api.run_command(text, uuid, uuid, uuid, int, int, uuid, uuid, boolean) is
  'Carries out a command other than an order. cancel: ends an open order (order_id) at once. '
  'amend: gives an open order (order_id) a new price (1-99), a new total quantity (1-10000), or '
  'both. split: makes complete sets of YES and NO (market_id, quantity) out of 100 cents each; '
  'merge turns them back. With an idempotency key the answer is kept in the same transaction, and '
  'the same request gets it again for 24 hours; another request with the key is rejected with '
  'IDEMPOTENCY_KEY_REUSED. A rejection keeps nothing, so its key can be used again. '
  'market_version is that of the market after the command, null if there is no such order or '
  'market. Rejections of cancel: ORDER_NOT_FOUND, ORDER_NOT_CANCELLABLE. Of amend: '
  'INVALID_REQUEST, ORDER_NOT_FOUND, ORDER_NOT_AMENDABLE, BELOW_FILLED, '
  'BUDGET_ORDER_NOT_AMENDABLE and those of an order; they change nothing, except that an order '
  'past its expiry expires, and that CONFLICT_RETRY cancels makers: call it again. '
  'Bounded, it is also rejected with MARKET_DEEP, if the new order could meet more than 50 '
  'makers: call it without the bound. Of split, in '
  'order of precedence: INVALID_REQUEST, TRADING_PAUSED, UNAUTHORIZED, SELF_EXCLUDED, '
  'ACCOUNT_FROZEN, LIMITS_SETUP_REQUIRED, MARKET_NOT_FOUND, MARKET_NOT_OPEN, '
  'INSUFFICIENT_BALANCE, LOSS_LIMIT. Of merge, in order of precedence: INVALID_REQUEST, '
  'UNAUTHORIZED, MARKET_NOT_FOUND, MARKET_NOT_OPEN (resolved), INSUFFICIENT_BALANCE. May fail '
  'with 40001, 40P01 or 55P03: call it again. Locks: the market; then the user, but for a cancel '
  'without a key; of an amendment also the makers that a new order can reach.';
--! EndIncluded api/functions/run_command.sql
grant execute on function api.place_orders_versioned(
  jsonb, boolean, boolean, boolean, boolean
) to exchange_api;
grant execute on function api.run_command(
  text, uuid, uuid, uuid, int, int, uuid, uuid, boolean
) to exchange_api;
reset role;
