create or replace function trading.shares_ahead(open_order trading.open_orders, at timestamptz)
returns bigint
language sql stable
begin atomic
  select (
    (
      select coalesce(sum(d.quantity), 0)
      from trading.depth((open_order).market_id, shares_ahead.at) as d
      where d.book_side = (open_order).book_side
        and d.book_price > (open_order).book_price
    ) + (
      select coalesce(sum(o.quantity - o.filled_quantity), 0)
      from trading.open_orders as b
      join trading.orders as o on o.id = b.order_id
      where b.market_id = (open_order).market_id
        and b.book_side = (open_order).book_side
        and b.book_price = (open_order).book_price
        and b.queue_position < (open_order).queue_position
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > shares_ahead.at)
    )
  )::bigint
  where (open_order).queue_position is not null;
end;

comment on function trading.shares_ahead(trading.open_orders, timestamptz) is
  'Unfilled shares that trade before a resting order: better-priced ones and earlier ones at its '
  'price. Null for an order that does not rest.';
