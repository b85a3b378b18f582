create or replace function trading.changed_depth(depth bigint[], places int[], changes bigint[])
returns bigint[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth bigint[] := changed_depth.depth;
begin
  for i in 1 .. coalesce(cardinality(places), 0) loop
    v_depth[places[i]] := v_depth[places[i]] + changes[i];
  end loop;
  return v_depth;
end
$$;

comment on function trading.changed_depth(bigint[], int[], bigint[]) is
  'The depth of a market (trading.market_state) with shares added at some places.';
