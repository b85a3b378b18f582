create or replace function trading.places(ids bigint[], sorted bigint[])
returns int[]
language sql immutable parallel safe
return case
  when cardinality(ids) = 1 then array[width_bucket(ids[1], sorted)]
  else array(
    select width_bucket(u.id, sorted) from unnest(ids) with ordinality as u (id, place)
    order by u.place
  )
end;

comment on function trading.places(bigint[], bigint[]) is
  'Where each id stands in a sorted array that has them all; null for null.';
