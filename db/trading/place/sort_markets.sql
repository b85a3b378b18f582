create or replace function trading.sort_markets(requests trading.requests)
returns trading.requests
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  requests.market_ids := array(
    select distinct u.id from unnest(requests.market_id) as u (id) order by u.id nulls last
  );
  if cardinality(requests.market_ids) = 1 then
    requests.market_place := array_fill(1, array[cardinality(requests.market_id)]);
  else
    requests.market_place := array(
      select case
        when u.id is null then cardinality(requests.market_ids)
        else width_bucket(u.id, array_remove(requests.market_ids, null))
      end
      from unnest(requests.market_id) with ordinality as u (id, place)
      order by u.place
    );
  end if;
  return requests;
end
$$;

comment on function trading.sort_markets(trading.requests) is
  'Gives requests their market_ids, the markets each once, ascending, and their market_place among '
  'these. A null, for markets that do not exist, is the last.';
