create or replace function jobs.close_markets(most int default 200)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_market_id bigint;
begin
  select m.id into v_market_id
  from catalog.markets as m
  where m.status in ('open', 'paused')
    and m.close_time <= (select core.now())
  order by m.close_time
  limit 1;
  if not found then
    return 0;
  end if;

  perform trading.lock_market(v_market_id);
  return trading.close_market(v_market_id, close_markets.most);
end
$$;

comment on function jobs.close_markets(int) is
  'Closes one market that is past its close time, or as much of it as is done by cancelling so '
  'many orders; returns how many it cancelled, and one more for the market. Locks: the market, '
  'then its row in catalog.markets.';
