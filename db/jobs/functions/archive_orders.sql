create or replace function jobs.archive_orders(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
set enable_sort = off
set lock_timeout = '250ms'
as $$
begin
  return trading.archive_orders(archive_orders.most);
end
$$;

comment on function jobs.archive_orders(int) is
  'Moves orders to the archive that were cancelled 30 days ago without a fill, at most so many, '
  'and returns how many. Fails with 55P03 rather than make readers of the archive wait for one who '
  'reads it in a long transaction. Locks: see trading.archive_orders; no market and no user.';
