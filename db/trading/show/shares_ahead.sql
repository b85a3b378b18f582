-- Every look-up goes by an index whatever the planner expects: a subquery with a limit can only be
-- carried out once for each row that it belongs to. What is left to join is as large as the queues:
-- it is hashed, since a nested loop would read each queue again for each order.
create or replace function trading.shares_ahead(order_ids bigint[], at timestamptz)
returns table (order_id bigint, shares_ahead bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
set jit = off
as $$
begin
  return query
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
        q.*,
        coalesce(d.quantity, 0) - coalesce(
          (
            select sum(e.quantity)
            from expired as e
            where e.market_id = q.market_id
              and e.book_side = q.book_side
              and e.book_price > q.book_price
          ), 0
        ) as better_quantity
      from (
        select w.market_id, w.book_side, w.book_price, max(w.queue_position) as last_position
        from own as w
        group by w.market_id, w.book_side, w.book_price
      ) as q
      cross join lateral (
        select (
          select sum(u.quantity)
          from unnest(
            s.depth[
              trading.depth_place(q.book_side, q.book_price) + 1
              : trading.depth_place(q.book_side, 99)
            ]
          ) as u (quantity)
        ) as quantity
        from trading.market_state as s
        where s.market_id = q.market_id
        limit 1
      ) as d
    ),
    queued as (
      select
        x.order_id, q.better_quantity,
        sum(x.left_quantity) over (
          partition by q.market_id, q.book_side, q.book_price
          order by x.queue_position
          rows between unbounded preceding and 1 preceding
        ) as earlier_quantity
      from levels as q
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
    select w.order_id, (q.better_quantity + coalesce(q.earlier_quantity, 0))::bigint
    from own as w
    join queued as q on q.order_id = w.order_id;
end
$$;

comment on function trading.shares_ahead(bigint[], timestamptz) is
  'For each of these orders that rests and has not expired, the unfilled shares that trade before '
  'it: better-priced ones and earlier ones at its price. Orders that do not rest have no row. '
  'Cost: each queue that has one of the orders is read once, up to the last of them; the depth of '
  'each of their markets once; and the orders past their expiry that have not been swept yet.';
