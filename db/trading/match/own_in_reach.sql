create or replace function trading.own_in_reach(
  trader int,
  book int,
  worst_price int,
  had_one boolean,
  k_trader int[],
  k_book int[],
  k_price int[],
  k_left int[],
  k_left_before int[],
  most int
)
returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_unsure boolean := false;
begin
  for k in 1 .. most loop
    if k_trader[k] = trader and k_book[k] = book and k_price[k] >= worst_price then
      if k_left[k] > 0 then
        return true;
      end if;
      v_is_unsure := v_is_unsure or k <= cardinality(k_left_before);
    end if;
  end loop;
  return case when v_is_unsure then null else had_one end;
end
$$;

comment on function trading.own_in_reach(
  int, int, int, boolean, int[], int[], int[], int[], int[], int
) is
  'Whether a trader has an order of their own on a side of a book at this price or better: among '
  'the first makers of a call (most of them, those that came to rest included), or before the '
  'call (had_one). Null if such an order left during the call and another may stand behind what '
  'was read.';
