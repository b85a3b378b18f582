-- The settings hold also for plans made on empty tables. Of the indexes of open orders only that of
-- those that expire gives them sorted; by that of the book, a deep one would be read to its end.
create or replace function trading.depth(market_id bigint, at timestamptz)
returns table (book_side trading.side, book_price int, quantity bigint)
language sql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select d.book_side, d.book_price, sum(d.quantity)::bigint
  from (
    select l.book_side, l.book_price, l.quantity
    from trading.book_levels as l
    where l.market_id = depth.market_id
      and l.quantity > 0
    union all
    select b.book_side, b.book_price, -o.remaining
    from (
      select e.order_id, e.book_side, e.book_price
      from trading.active_orders as e
      where e.market_id = depth.market_id
        and e.expires_at <= depth.at
        and e.queue_position is not null
      order by e.expires_at
    ) as b
    cross join lateral (
      select (o.quantity - o.filled_quantity)::bigint as remaining
      from trading.orders as o
      where o.id = b.order_id
      limit 1
    ) as o
  ) as d
  group by d.book_side, d.book_price
  having sum(d.quantity) > 0
$$;

comment on function trading.depth(bigint, timestamptz) is
  'Unfilled shares of a market''s book at each stored side and price, without orders that have '
  'expired and not been swept yet.';
