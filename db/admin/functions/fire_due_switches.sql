create or replace function admin.fire_due_switches(
  out cancelled int, out expired int, out passed_over int
)
language plpgsql volatile
as $$
declare
  v_due record;
  v_cancelled int;
  v_open_count bigint; -- of the orders that are due in a market
  v_left_count bigint;
  v_busy bigint[] := '{}';
  v_found boolean := true;
begin
  cancelled := 0;
  expired := 0;
  while v_found loop
    v_found := false;
    for v_due in
      select d.market_id, d.order_ids from jobs.due_dead_man_orders(passing_over => v_busy) as d
    loop
      v_found := true;
      if not trading.try_lock_market(v_due.market_id) then
        v_busy := v_busy || v_due.market_id;
        continue;
      end if;
      select count(*) into v_open_count
      from trading.active_orders as b
      where b.order_id = any (v_due.order_ids);
      select c.cancelled into v_cancelled
      from jobs.cancel_dead_man_orders(array[v_due.market_id], v_due.order_ids) as c;
      select count(*) into v_left_count
      from trading.active_orders as b
      where b.order_id = any (v_due.order_ids);
      cancelled := cancelled + v_cancelled;
      expired := expired + v_open_count - v_left_count - v_cancelled;
    end loop;
  end loop;
  passed_over := cardinality(v_busy);
end
$$;

comment on function admin.fire_due_switches() is
  'Fires the dead man''s switches that have expired and cancels their orders: how many, how many '
  'others had expired before and end as that, and how many locked markets it passed over. Private '
  'to the schema. Locks: those of jobs.due_dead_man_orders and jobs.cancel_dead_man_orders.';
