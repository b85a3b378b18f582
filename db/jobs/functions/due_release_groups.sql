create or replace function jobs.due_release_groups(
  most int default 1000, passing_over bigint[] default '{}'
)
returns setof bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
set enable_sort = off
as $$
declare
  c_most_together constant int := 25; -- due orders of a market that shares its group
  v_at constant timestamptz := core.now();
  v_market_ids bigint[];
  v_count int;
begin
  -- Mostly few orders are due, and these are all of them.
  select array_agg(distinct a.market_id), count(*) into v_market_ids, v_count
  from (
    select b.market_id
    from trading.active_orders as b
    where b.queue_position is null
      and b.release_at <= v_at
    order by b.release_at
    limit due_release_groups.most
  ) as a;
  if v_count = 0 then
    return;
  end if;

  -- Otherwise they may all be of one market, so the first order of each market is looked up.
  if v_count = due_release_groups.most then
    with recursive scheduled (market_id, first_at) as (
      (
        select b.market_id, b.release_at
        from trading.active_orders as b
        where b.queue_position is null
        order by b.market_id, b.release_at
        limit 1
      )
      union all
      select n.market_id, n.release_at
      from scheduled as s
      cross join lateral (
        select b.market_id, b.release_at
        from trading.active_orders as b
        where b.queue_position is null
          and b.market_id > s.market_id
        order by b.market_id, b.release_at
        limit 1
      ) as n
    )
    select array_agg(s.market_id) into v_market_ids
    from scheduled as s
    where s.first_at <= v_at;
  end if;

  return query
    select array_agg(n.market_id order by n.market_id)
    from (
      select
        d.market_id, d.is_alone, d.first_at,
        (row_number() over (partition by d.is_alone order by d.first_at, d.market_id) - 1)
          / case when d.is_alone then 1 else 8 end as nth_group
      from (
        select u.id as market_id, l.first_at, l.is_alone
        from unnest(v_market_ids) as u (id)
        cross join lateral (
          select
            min(a.release_at) as first_at,
            -- Their release takes long. A budget has no quantity yet, and may take many orders.
            count(*) > c_most_together
              or bool_or(a.left_quantity = 0 or trading.is_large(a.left_quantity)) as is_alone
          from (
            select b.release_at, b.left_quantity
            from trading.active_orders as b
            where b.market_id = u.id
              and b.queue_position is null
              and b.release_at <= v_at
            order by b.release_at
            limit c_most_together + 1
          ) as a
        ) as l
        where u.id <> all (due_release_groups.passing_over)
          and l.first_at is not null -- released meanwhile
        order by l.first_at, u.id
        limit due_release_groups.most
      ) as d
    ) as n
    group by n.is_alone, n.nth_group
    order by min(n.first_at);
end
$$;

comment on function jobs.due_release_groups(int, bigint[]) is
  'The markets of the scheduled orders whose release is due, in groups for jobs.release_group. A '
  'group has eight markets. A market is alone in its group if a large order, a budget or more than '
  '25 orders are due there. Groups that have waited longest come first. most: only so many markets '
  'are listed, those that have waited longest, however many orders are due in one of them. '
  'passing_over: markets that are left out. Locks: none.';
