create or replace function jobs.due_release_groups(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint[]
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select array_agg(n.market_id order by n.market_id)
  from (
    select
      d.market_id, d.is_alone, d.first_at,
      (row_number() over (partition by d.is_alone order by d.first_at, d.market_id) - 1)
        / case when d.is_alone then 1 else 8 end as nth_group
    from (
      select
        a.market_id,
        min(a.release_at) as first_at,
        -- Their release takes long. A budget has no quantity yet, and may take many orders.
        count(*) > 25 or bool_or(a.left_quantity = 0 or trading.is_large(a.left_quantity))
          as is_alone
      from (
        select b.market_id, b.release_at, b.left_quantity
        from trading.active_orders as b
        where b.queue_position is null
          and b.release_at <= (select core.now())
          and b.market_id <> all (due_release_groups.passing_over)
        order by b.release_at
        limit due_release_groups.most
      ) as a
      group by a.market_id
    ) as d
  ) as n
  group by n.is_alone, n.nth_group
  order by min(n.first_at)
$$;

comment on function jobs.due_release_groups(int, bigint[]) is
  'The markets of the scheduled orders whose release is due, in groups for jobs.release_group. A '
  'group has eight markets. A market is alone in its group if a large order, a budget or more than '
  '25 orders are due there. Groups that have waited longest come first. most: only so many of the '
  'orders are looked at, the earliest. passing_over: markets that are left out. Locks: none.';
