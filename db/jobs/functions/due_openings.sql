create or replace function jobs.due_openings(
  most int default 100, passing_over bigint[] default '{}'
)
returns setof bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
set enable_sort = off
as $$
  select m.id
  from catalog.markets as m
  where m.open_time <= (select core.now())
    and (m.close_time is null or m.close_time > (select core.now()))
    and m.id <> all (due_openings.passing_over)
  order by m.open_time
  limit due_openings.most
$$;

comment on function jobs.due_openings(int, bigint[]) is
  'The markets that are past their open time and not past their close time, those that have waited '
  'longest first; so many at most, and none of the markets to pass over. Locks: none.';
