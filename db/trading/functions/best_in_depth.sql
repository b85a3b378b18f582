create or replace function trading.best_in_depth(
  depth bigint[], book_side trading.side, from_price int
)
returns int
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before_side constant int := trading.depth_place(best_in_depth.book_side, 0);
begin
  for v_price in reverse from_price .. 1 loop
    if depth[v_before_side + v_price] > 0 then
      return v_price;
    end if;
  end loop;
  return 0;
end
$$;

comment on function trading.best_in_depth(bigint[], trading.side, int) is
  'The highest price of a side, from from_price down, that has shares in the depth of a book; 0 '
  'when there is none.';
