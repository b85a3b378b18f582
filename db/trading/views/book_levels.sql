create or replace view trading.book_levels as
select
  s.market_id,
  case when d.place <= 99 then 'yes' else 'no' end::trading.side as book_side,
  (case when d.place <= 99 then d.place else d.place - 99 end)::int as book_price,
  coalesce(d.quantity, 0) as quantity
from trading.market_state as s
cross join lateral unnest(s.depth) with ordinality as d (quantity, place);

comment on view trading.book_levels is
  'trading.market_state.depth in rows: unfilled shares at each stored side and price.';
comment on column trading.book_levels.market_id is 'catalog.markets.id.';
comment on column trading.book_levels.book_side is 'Stored side of the book.';
comment on column trading.book_levels.book_price is 'Stored price, 1-99.';
comment on column trading.book_levels.quantity is
  'Unfilled shares there; orders past their expiry count until they are cancelled.';
