create or replace function trading.resolution_in_force(market_id bigint)
returns trading.resolutions
language sql stable
begin atomic
  select r
  from trading.resolutions as r
  where r.market_id = resolution_in_force.market_id
  order by r.id desc
  limit 1;
end;

comment on function trading.resolution_in_force(bigint) is
  'The last resolution of a market, which the market is paid by; null if it is not resolved.';
