create or replace function trading.depth_place(book_side trading.side, book_price int)
returns int
language sql immutable parallel safe
return case book_side when 'yes' then book_price else 99 + book_price end;

comment on function trading.depth_place(trading.side, int) is
  'Where trading.market_state.depth has the shares of a side and price: NO behind the 99 of YES.';
