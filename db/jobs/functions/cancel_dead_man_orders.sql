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
  cancelled := trading.end_orders(
    array(
      select b.order_id
      from trading.active_orders as b
      where b.order_id = any (cancel_dead_man_orders.order_ids)
        and b.market_id = any (v_locked)
    ),
    null,
    core.now()
  );
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
