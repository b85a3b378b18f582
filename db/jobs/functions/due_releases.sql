create or replace function jobs.due_releases(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  select d.market_id
  from (
    select b.market_id, b.release_at
    from trading.active_orders as b
    where b.queue_position is null
      and b.release_at <= (select core.now())
      and b.market_id <> all (due_releases.passing_over)
    order by b.release_at
    limit due_releases.most
  ) as d
  group by d.market_id
  order by min(d.release_at)
$$;

comment on function jobs.due_releases(int, bigint[]) is
  'For workers of version 0.2.0: the markets of the scheduled orders whose release is due, those '
  'that have waited longest first; of so many orders at most, and none of the markets to pass '
  'over. Locks: none.';
