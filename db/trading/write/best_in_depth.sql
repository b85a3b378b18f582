create or replace function trading.best_in_depth(
  depth bigint[], book_side trading.side, from_price int
)
returns int
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  for p in reverse best_in_depth.from_price .. 1 loop
    if best_in_depth.depth[trading.depth_place(book_side, p)] > 0 then
      return p;
    end if;
  end loop;
  return 0;
end
$$;

comment on function trading.best_in_depth(bigint[], trading.side, int) is
  'The highest price of a side with shares in a market''s depth, at most from_price; 0 if none.';
