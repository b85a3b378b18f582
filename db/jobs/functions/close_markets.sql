create or replace function jobs.close_markets(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
--!include planner/indexes.sql
as $$
begin
  if not trading.try_lock_market(close_markets.market_id, close_markets.waits) then
    return null;
  end if;
  return trading.close_market(close_markets.market_id, close_markets.most);
end
$$;

comment on function jobs.close_markets(bigint, int, boolean) is
  'Closes a market that is past its close time: cancels at most so many of its orders, and changes '
  'its status once none is left. Returns how many it cancelled, and one more for the status. Null '
  'when the market is locked: passed over, at once or, if it waits, after 250 ms. May fail with '
  '55P03: call it again. Locks: the market, if it is free; then its row in catalog.markets and '
  'that of the category, for which it waits 250 ms at most.';
