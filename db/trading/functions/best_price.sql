create or replace function trading.best_price(
  market_id bigint, book_side trading.side, at timestamptz
)
returns int
language sql stable
begin atomic
  select b.book_price
  from trading.active_orders as b
  where b.market_id = best_price.market_id
    and b.book_side = best_price.book_side
    and b.queue_position is not null
    and (b.expires_at is null or b.expires_at > best_price.at)
  order by b.book_price desc, b.queue_position
  limit 1;
end;

comment on function trading.best_price(bigint, trading.side, timestamptz) is
  'Highest stored price of a side of a market''s book at a time, null when it is empty.';
