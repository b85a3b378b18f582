create or replace function trading.market_ids(of_requests bigint[])
returns bigint[]
language sql immutable parallel safe
return case
  when cardinality(of_requests) = 1 then of_requests
  else array(select distinct u.id from unnest(of_requests) as u (id) order by u.id nulls last)
end;

comment on function trading.market_ids(bigint[]) is
  'The markets of requests, each once, ascending; a null, for those that do not exist, is the '
  'last.';
