create table trading.book_levels (
  market_id bigint not null,
  book_side trading.side not null,
  book_price int not null,
  quantity bigint not null,
  order_count int not null,
  primary key (market_id, book_side, book_price),
  constraint book_levels_price_is_a_price check (book_price between 1 and 99),
  constraint book_levels_are_not_negative check (quantity >= 0 and order_count >= 0),
  constraint book_levels_are_empty_together check ((quantity = 0) = (order_count = 0))
) with (fillfactor = 50);

comment on table trading.book_levels is
  'The depth of each market''s book: unfilled shares and orders at each stored side and price, '
  'kept so that a look at a deep book costs no more than at a shallow one. Orders past their '
  'expiry are in it until they are swept; whoever reads the depth takes them off.';
