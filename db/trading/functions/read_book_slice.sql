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
