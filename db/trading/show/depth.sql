-- The settings hold also for plans made on empty tables. Of the indexes of active orders only that
-- of those that expire gives them sorted; by that of the book, a deep one would be read to its end.
create or replace function trading.depth(market_id bigint, at timestamptz)
returns table (book_side trading.side, book_price int, quantity bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
  return query
    select
      case when d.place <= 99 then 'yes' else 'no' end::trading.side,
      (case when d.place <= 99 then d.place else d.place - 99 end)::int,
      d.quantity - coalesce(g.quantity, 0)
    from trading.market_state as s
    cross join lateral unnest(s.depth) with ordinality as d (quantity, place)
    left join (
      select
        case e.book_side when 'yes' then e.book_price::bigint else 99 + e.book_price end as place,
        sum(e.left_quantity) as quantity
      from (
        select x.book_side, x.book_price, x.left_quantity
        from trading.active_orders as x
        where x.market_id = depth.market_id
          and x.expires_at <= depth.at
          and x.queue_position is not null
        order by x.expires_at
      ) as e
      group by 1
    ) as g on g.place = d.place
    where s.market_id = depth.market_id
      and d.quantity > coalesce(g.quantity, 0);
end
$$;

comment on function trading.depth(bigint, timestamptz) is
  'Unfilled shares of a market''s book at each stored side and price, without orders that have '
  'expired and not been cancelled yet.';
