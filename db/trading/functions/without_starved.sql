create or replace function trading.without_starved(
  cancelled trading.cancelled_maker[], before int
)
returns trading.cancelled_maker[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(without_starved.cancelled), 0) <= without_starved.before then
    return without_starved.cancelled;
  end if;
  return array(
    select (c.request, c.maker, c.reason, c.left_quantity, c.traded_with)::trading.cancelled_maker
    from unnest(without_starved.cancelled) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    where c.place <= without_starved.before or c.traded_with <> c.request
    order by c.place
  );
end
$$;

comment on function trading.without_starved(trading.cancelled_maker[], int) is
  'Cancelled makers without those, behind so many that were there before, that only the fills of '
  'the request that met them would have starved of cash or shares, and without its own orders.';
