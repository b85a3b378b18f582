create table trading.book_levels (
  market_id bigint not null,
  book_side trading.side not null,
  book_price trading.price not null,
  quantity core.amount not null default 0,
  order_count core.amount not null default 0,
  primary key (market_id, book_price, book_side),
  constraint book_levels_are_empty_together check ((quantity = 0) = (order_count = 0))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

comment on table trading.book_levels is
  'The depth of each market''s book: unfilled shares and orders at each stored side and price, '
  'kept so that a look at a deep book costs no more than at a shallow one. All 198 rows of a '
  'market are there from the start. Orders past their expiry are in it until they are swept; '
  'whoever reads the depth takes them off.';
