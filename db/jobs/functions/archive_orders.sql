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
  return (select a.looked_at from trading.archive_orders(archive_orders.most) as a);
end
$$;

comment on function jobs.archive_orders(int) is
  'Looks at orders that may be due for the archive, at most so many, and moves there those that '
  'were cancelled 30 days ago without a fill; returns how many it looked at. Locks: the row of '
  'trading.archive_progress; no market and no user.';
