create or replace function jobs.due_closings(
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
  where m.status in ('open', 'paused')
    and m.close_time <= (select core.now())
    and m.id <> all (due_closings.passing_over)
  order by m.close_time
  limit due_closings.most
$$;

comment on function jobs.due_closings(int, bigint[]) is
  'The markets that are past their close time and not closed, those that have waited longest '
  'first; so many at most, and none of the markets to pass over. Locks: none.';
