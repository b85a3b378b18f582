create or replace function jobs.due_dead_man_orders(
  most int default 5000, passing_over bigint[] default '{}'
)
returns table (market_id bigint, order_ids bigint[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
--!include planner/nested_loops.sql
as $$
declare
  c_most_of_a_user constant int := 200;
  c_most_of_a_market constant int := 200;
  c_overdue constant interval := interval '20 milliseconds';
  v_at constant timestamptz := core.now();
  v_overdue_user_id constant bigint := (
    select x.user_id
    from trading.dead_man_switches as x
    where x.expires_at <= v_at - c_overdue
      and x.fired_at is null
    order by random()
    limit 1
  );
  v_user_ids bigint[];
begin
  -- The row of a user whom many trade with is hardly ever free. So of the users who were skipped
  -- one is waited for, before anything else is locked.
  if v_overdue_user_id is not null then
    begin
      perform trading.lock_traders(array[v_overdue_user_id]);
    exception when lock_not_available then
      null;
    end;
  end if;
  v_user_ids := array(
    select x.user_id
    from trading.dead_man_switches as x
    cross join lateral (
      select t.user_id from trading.traders as t where t.user_id = x.user_id
    ) as u
    where x.expires_at <= v_at
      and x.fired_at is null
    order by x.expires_at
    limit due_dead_man_orders.most
    -- One that is being renewed is skipped, and one whose user has an order under way, which may
    -- be of a time before the expiry: it is looked at again.
    for update skip locked
  );
  -- A statement of its own: it sees the orders that were committed before the locks were had.
  update trading.dead_man_switches as s set
    fired_at = v_at,
    last_fired_at = s.expires_at,
    last_order_id = trading.last_stopped_order(s, v_at, grace => '0')
  where s.user_id = any (v_user_ids);

  update trading.dead_man_switches as s set
    expires_at = null,
    fired_at = null,
    last_order_id = null
  where s.user_id = any (array(
    select x.user_id
    from trading.dead_man_switches as x
    where x.expires_at <= v_at
      and x.fired_at is not null
      and not exists (
        select
        from trading.active_orders_until(x.user_id, x.last_order_id, null, 1)
      )
    order by x.expires_at
    limit due_dead_man_orders.most
    for update skip locked
  ));

  delete from trading.order_stops as s
  where (s.user_id, s.last_order_id) in (
    select x.user_id, x.last_order_id
    from trading.order_stops as x
    where not exists (
      select
      from trading.active_orders as b
      where b.user_id = x.user_id and b.order_id <= x.last_order_id
    )
    for update skip locked
  );

  return query
    select
      d.market_id,
      (array_agg(d.order_id order by d.since, d.order_id))[1 : c_most_of_a_market]
    from (
      (
        select s.fired_at as since, o.market_id, o.order_id
        from trading.dead_man_switches as s
        cross join lateral (
          select x.market_id, x.order_id
          from trading.active_orders_until(
            s.user_id, s.last_order_id, null,
            c_most_of_a_user
          ) as x
          where x.market_id <> all (due_dead_man_orders.passing_over)
        ) as o
        where s.expires_at <= v_at
          and s.fired_at is not null
        order by s.expires_at
        limit due_dead_man_orders.most
      )
      union
      (
        select s.stopped_at, o.market_id, o.order_id
        from (
          select x.user_id, min(x.stopped_at) as stopped_at, max(x.last_order_id) as last_order_id
          from trading.order_stops as x
          group by x.user_id
        ) as s
        cross join lateral (
          select b.market_id, b.order_id
          from trading.active_orders as b
          where b.user_id = s.user_id
            and b.order_id <= s.last_order_id
            and b.market_id <> all (due_dead_man_orders.passing_over)
          order by b.order_id
          limit c_most_of_a_user
        ) as o
        order by s.stopped_at
        limit due_dead_man_orders.most
      )
    ) as d
    group by d.market_id
    order by min(d.since), d.market_id;
end
$$;

comment on function jobs.due_dead_man_orders(int, bigint[]) is
  'Fires the dead man''s switches that have expired, ends those whose orders are cancelled, and '
  'returns the orders that are still to be cancelled, those of trading.stop_user_orders too, by '
  'market: at most 200 of each and twice `most` in all, none of the markets to pass over. Locks: '
  'the switches and their users, without waiting for locked ones; of those that were locked '
  'before, one user is waited for, 50 ms at most.';
