create or replace function trading.depth(market_id bigint, at timestamptz)
returns table (book_side trading.side, book_price int, quantity bigint)
language sql stable
set search_path = ''
as $$
  select l.book_side, l.book_price, l.quantity - coalesce(gone.quantity, 0)
  from trading.book_levels as l
  left join (
    select b.book_side, b.book_price, sum(o.quantity - o.filled_quantity) as quantity
    from trading.open_orders as b
    join trading.orders as o on o.id = b.order_id
    where b.market_id = depth.market_id
      and b.expires_at <= depth.at
      and b.queue_position is not null
    group by b.book_side, b.book_price
  ) as gone on gone.book_side = l.book_side and gone.book_price = l.book_price
  where l.market_id = depth.market_id
    and l.quantity > coalesce(gone.quantity, 0)
$$;

comment on function trading.depth(bigint, timestamptz) is
  'Unfilled shares of a market''s book at each stored side and price, without orders that have '
  'expired and not been swept yet.';
