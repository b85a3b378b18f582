create or replace function trading.markets_without(
  market_ids bigint[], makers trading.resting_order[], user_ids bigint[]
)
returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_places constant bigint[] := array(
    select distinct k.market::bigint
    from unnest(markets_without.makers) as k
    where k.user_id = any (markets_without.user_ids) -- mutant: busy_maker_overlooked
  );
begin
  return array(
    select u.market_id
    from unnest(markets_without.market_ids) with ordinality as u (market_id, place)
    where u.place <> all (v_places)
    order by u.place
  );
end
$$;

comment on function trading.markets_without(bigint[], trading.resting_order[], bigint[]) is
  'The markets of a batch, in their order, in which none of these users is a maker of it.';
