create or replace function jobs.release_orders(
  market_id bigint, most int default 200, waits boolean default false
)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
--!include planner/plain_nested_loops.sql
as $$
begin
  if not trading.try_lock_market(release_orders.market_id, release_orders.waits) then
    return null;
  end if;
  return trading.release_orders(array[release_orders.market_id], release_orders.most);
end
$$;

comment on function jobs.release_orders(bigint, int, boolean) is
  'Releases what is due of the scheduled orders of a market, at most so many, in the order of '
  'their release time. Returns how many it took up, with those that stay due because too many '
  'makers in their way had to be cancelled (CONFLICT_RETRY): call it again for these. Null when '
  'the market is locked: passed over, at once or, if it waits, after 250 ms. May fail with 40001, '
  '40P01 or 55P03: call it again. Locks: the market, if it is free; then the users of the orders '
  'and the makers they can reach, for each of whom it waits 250 ms at most.';
