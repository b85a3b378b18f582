create or replace function jobs.cancel_dead_man_orders(
  market_ids bigint[],
  order_ids bigint[],
  waits boolean default false,
  out cancelled int,
  out busy bigint[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
--!include planner/nested_loops.sql
as $$
declare
  v_locked bigint[];
  v_stopped record;
begin
  if cancel_dead_man_orders.waits and cardinality(cancel_dead_man_orders.market_ids) = 1 then
    v_locked := case
      when trading.try_lock_market(cancel_dead_man_orders.market_ids[1], true)
        then cancel_dead_man_orders.market_ids
      else '{}'
    end;
  else
    v_locked := trading.lock_free_markets(cancel_dead_man_orders.market_ids);
  end if;
  cancelled := 0;
  for v_stopped in
    select r.reason, array_agg(b.order_id) as order_ids
    from trading.active_orders as b
    cross join lateral trading.stop_of(b.user_id, b.order_id, core.now()) as r
    where b.order_id = any (cancel_dead_man_orders.order_ids)
      and b.market_id = any (v_locked)
    group by r.reason
  loop
    cancelled := cancelled + trading.cancel_active_orders(
      v_stopped.order_ids, v_stopped.reason, core.now(),
      expires => true
    );
  end loop;
  busy := array(
    select u.id
    from unnest(cancel_dead_man_orders.market_ids) as u (id)
    where u.id <> all (v_locked)
  );
end
$$;

comment on function jobs.cancel_dead_man_orders(bigint[], bigint[], boolean) is
  'Cancels stopped orders, as jobs.due_dead_man_orders gives them, in one transaction; returns how '
  'many it cancelled, and the markets that were locked and passed over. waits: a single '
  'market is waited for, 250 ms at most. An order that has ended meanwhile is left out. Locks: the '
  'markets that are free.';
