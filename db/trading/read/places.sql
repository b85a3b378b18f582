create or replace function trading.places(ids bigint[], sorted bigint[])
returns int[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(places.ids) = 1 then
    return array[width_bucket(places.ids[1], places.sorted)];
  end if;
  return array(
    select width_bucket(u.id, places.sorted)
    from unnest(places.ids) with ordinality as u (id, place)
    order by u.place
  );
end
$$;

comment on function trading.places(bigint[], bigint[]) is
  'Where each id stands in a sorted array that has them all; null for null.';
