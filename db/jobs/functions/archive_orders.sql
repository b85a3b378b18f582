create or replace function jobs.archive_orders(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
set enable_sort = off
as $$
begin
  return trading.archive_orders(archive_orders.most);
end
$$;

comment on function jobs.archive_orders(int) is
  'Moves orders to the archive that were cancelled 30 days ago without a fill, at most so many, '
  'and returns how many. Locks: see trading.archive_orders; no market and no user.';
