create or replace function trading.place_markets(market_ids bigint[], ids bigint[])
returns int[]
language sql immutable parallel safe
return case
  when cardinality(ids) = 1 then array_fill(1, array[cardinality(market_ids)])
  else array(
    select case
      when u.id is null then cardinality(ids)
      else width_bucket(u.id, array_remove(ids, null))
    end
    from unnest(market_ids) with ordinality as u (id, place)
    order by u.place
  )
end;

comment on function trading.place_markets(bigint[], bigint[]) is
  'Where the market of each request stands among the markets of a call, which are ascending; a '
  'null, for markets that do not exist, is the last.';
