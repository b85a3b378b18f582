create or replace function analytics.book_as_of(market_id uuid, at timestamptz)
returns table (side text, yes_price_cents int, quantity bigint, order_count bigint)
language sql stable parallel safe
begin atomic
  select b.side, b.yes_price_cents, b.quantity, b.order_count
  from analytics.book_history(
    book_as_of.market_id, '1 day', book_as_of.at, book_as_of.at
  ) as b
  order by b.side, b.yes_price_cents;
end;

comment on function analytics.book_as_of(uuid, timestamptz) is
  'The book of a market at a time, after all that happened at that time: bids and asks in YES '
  'prices. analytics.book_history has the books at several times, and says what it reads. Errors: '
  'NOT_FOUND, INVALID_REQUEST.';
