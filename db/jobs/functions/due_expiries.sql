create or replace function jobs.due_expiries(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
set enable_sort = off
as $$
  select d.market_id
  from (
    -- The time is a subquery of its own because an index can't be searched for what a volatile
    -- function gives.
    select b.market_id, b.expires_at
    from trading.active_orders as b
    cross join lateral (
      select x.close_time
      from catalog.markets as x
      where x.id = b.market_id
      limit 1
    ) as m
    where b.expires_at <= (select core.now())
      and b.queue_position is not null
      and (m.close_time is null or b.expires_at < m.close_time)
      and b.market_id <> all (due_expiries.passing_over)
    order by b.expires_at, b.market_id
    limit due_expiries.most
  ) as d
  group by d.market_id
  order by min(d.expires_at)
$$;

comment on function jobs.due_expiries(int, bigint[]) is
  'The markets of the resting orders that are past their expiry, those that have waited longest '
  'first; of so many orders at most, and none of the markets to pass over. An order that expires '
  'when its market has closed is left to the closing, a scheduled one to its release. Locks: none.';
