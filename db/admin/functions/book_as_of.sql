create or replace function admin.book_as_of(market_id uuid, at timestamptz)
returns table (side text, yes_price_cents int, quantity bigint, order_count bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select b.side, b.yes_price_cents, b.quantity, b.order_count
  from analytics.book_as_of(book_as_of.market_id, book_as_of.at) as b
  order by b.side, b.yes_price_cents desc
$$;

comment on function admin.book_as_of(uuid, timestamptz) is
  'The book of a market at a time, as analytics.book_as_of replays it: bids and asks in YES '
  'prices. Errors: NOT_FOUND, INVALID_REQUEST.';
