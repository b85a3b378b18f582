create or replace function jobs.expire_orders(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
--!include planner/indexes.sql
set enable_sort = off
as $$
begin
  if not trading.try_lock_market(expire_orders.market_id, expire_orders.waits) then
    return null;
  end if;
  return trading.expire_market_orders(expire_orders.market_id, expire_orders.most);
end
$$;

comment on function jobs.expire_orders(bigint, int, boolean) is
  'Cancels resting orders of a market that are past their expiry, at most so many; returns how '
  'many. Null when the market is locked: passed over, at once or, if it waits, after 250 ms. An '
  'order that expires when its market has closed is left to the closing, a scheduled one to its '
  'release. Locks: the market, if it is free.';
