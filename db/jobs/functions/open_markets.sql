create or replace function jobs.open_markets(market_id bigint, waits boolean default false)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
begin
  if not trading.try_lock_market(open_markets.market_id, open_markets.waits) then
    return null;
  end if;
  return trading.open_market(open_markets.market_id);
end
$$;

comment on function jobs.open_markets(bigint, boolean) is
  'Opens a market that is past its open time. Returns 1, or 0 if it is not due. Null when the '
  'market is locked: passed over, at once or, if it waits, after 250 ms. May fail with 55P03: call '
  'it again. Locks: the market, if it is free; then its row in catalog.markets and that of the '
  'category, for which it waits 250 ms at most.';
