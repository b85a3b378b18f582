-- Every look-up goes by an index whatever the planner expects: a subquery with a limit can only be
-- carried out once for each row that it belongs to.
create or replace function trading.shares_ahead(order_ids bigint[], at timestamptz)
returns table (order_id bigint, shares_ahead bigint)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
  with own as materialized (
    select b.*
    from unnest(shares_ahead.order_ids) as u (order_id)
    cross join lateral (
      select x.order_id, x.market_id, x.book_side, x.book_price, x.queue_position
      from trading.active_orders as x
      where x.order_id = u.order_id
        and x.queue_position is not null
        and (x.expires_at is null or x.expires_at > shares_ahead.at)
      limit 1
    ) as b
  ),
  expired as materialized (
    select e.market_id, e.book_side, e.book_price, sum(e.left_quantity) as quantity
    from trading.active_orders as e
    where e.expires_at <= shares_ahead.at
      and e.queue_position is not null
      and e.market_id in (select w.market_id from own as w)
    group by e.market_id, e.book_side, e.book_price
  ),
  levels as materialized (
    select
      b.market_id, b.book_side, l.book_price,
      sum(l.quantity - coalesce(e.quantity, 0)) over (
        partition by b.market_id, b.book_side
        order by l.book_price desc
        rows between unbounded preceding and 1 preceding
      ) as better_quantity
    from (
      select w.market_id, w.book_side, min(w.book_price) as lowest_price
      from own as w
      group by w.market_id, w.book_side
    ) as b
    cross join lateral (
      select x.book_price, x.quantity
      from trading.book_levels as x
      where x.market_id = b.market_id
        and x.book_side = b.book_side
        and x.book_price >= b.lowest_price
      limit 99
    ) as l
    left join expired as e
      on e.market_id = b.market_id and e.book_side = b.book_side and e.book_price = l.book_price
  ),
  queued as (
    select
      x.order_id,
      sum(x.left_quantity) over (
        partition by q.market_id, q.book_side, q.book_price
        order by x.queue_position
        rows between unbounded preceding and 1 preceding
      ) as earlier_quantity
    from (
      select w.market_id, w.book_side, w.book_price, max(w.queue_position) as last_position
      from own as w
      group by w.market_id, w.book_side, w.book_price
    ) as q
    cross join lateral (
      select b.order_id, b.queue_position, b.left_quantity
      from trading.active_orders as b
      where b.market_id = q.market_id
        and b.book_side = q.book_side
        and b.book_price = q.book_price
        and b.queue_position <= q.last_position
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > shares_ahead.at)
      order by b.queue_position
    ) as x
  )
  select
    w.order_id,
    (coalesce(l.better_quantity, 0) + coalesce(q.earlier_quantity, 0))::bigint
  from own as w
  join levels as l
    on l.market_id = w.market_id and l.book_side = w.book_side and l.book_price = w.book_price
  join queued as q on q.order_id = w.order_id
$$;

comment on function trading.shares_ahead(bigint[], timestamptz) is
  'For each of these orders that rests and has not expired, the unfilled shares that trade before '
  'it: better-priced ones and earlier ones at its price. Orders that do not rest have no row. '
  'Cost: each queue that has one of the orders is read once, up to the last of them; the depth of '
  'each of their markets once; and the orders past their expiry that have not been swept yet.';
