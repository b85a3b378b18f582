create or replace function trading.first_in_book(
  market_id bigint, book_side trading.side, front_price int, front_position bigint
)
returns table (book_price int, queue_position bigint)
language sql stable
begin atomic
  (
    select b.book_price::int, b.queue_position
    from trading.active_orders as b
    where b.market_id = first_in_book.market_id
      and b.book_side = first_in_book.book_side
      and b.book_price = first_in_book.front_price
      and b.queue_position >= first_in_book.front_position
    order by b.queue_position
    limit 1
  )
  union all
  (
    select b.book_price::int, b.queue_position
    from trading.active_orders as b
    where b.market_id = first_in_book.market_id
      and b.book_side = first_in_book.book_side
      and b.book_price < first_in_book.front_price
      and b.queue_position is not null
    order by b.book_price desc, b.queue_position
    limit 1
  )
  limit 1;
end;

comment on function trading.first_in_book(bigint, trading.side, int, bigint) is
  'The place of the first resting order of a side of a book, looked for from a place that none '
  'stands before (trading.market_state.front_yes_price). No row: the side is empty.';
