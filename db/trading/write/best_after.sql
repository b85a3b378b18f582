create or replace function trading.best_after(
  depth bigint[], book_side trading.side, from_price int
)
returns int
language sql immutable parallel safe
return case
  when from_price = 0 or depth[trading.depth_place(book_side, from_price)] > 0 then from_price
  else trading.best_in_depth(depth, book_side, from_price)
end;

comment on function trading.best_after(bigint[], trading.side, int) is
  'As trading.best_in_depth, which it only calls when no shares are left at from_price.';
