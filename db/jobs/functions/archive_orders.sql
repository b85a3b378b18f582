create or replace function jobs.archive_orders(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return trading.archive_orders(archive_orders.most);
end
$$;

comment on function jobs.archive_orders(int) is
  'Moves orders to the archive that were cancelled 30 days ago without a fill, at most so many, '
  'and returns how many. Locks: see trading.archive_orders; no market and no user.';
