create or replace function trading.market_ids_problem(market_ids uuid[])
returns text
language sql immutable parallel safe
return case
  when cardinality(market_ids) = 0 then 'marketIds: at least one'
  when exists (
    select from unnest(market_ids) as u (id) group by u.id having count(*) > 1 or u.id is null
  ) then 'marketIds: each market once'
end;

comment on function trading.market_ids_problem(uuid[]) is
  'What is wrong with the markets of which NO shares are converted; null when they may be, and '
  'when there are none because YES shares are redeemed.';
