create or replace function admin.fire_due_switches(out cancelled int, out passed_over int)
language plpgsql volatile
as $$
declare
  v_due record;
  v_done record;
  v_busy bigint[] := '{}';
  v_found boolean := true;
begin
  cancelled := 0;
  while v_found loop
    v_found := false;
    for v_due in
      select d.market_id, d.order_ids from jobs.due_dead_man_orders(passing_over => v_busy) as d
    loop
      v_found := true;
      select c.cancelled, c.busy into v_done
      from jobs.cancel_dead_man_orders(array[v_due.market_id], v_due.order_ids) as c;
      cancelled := cancelled + v_done.cancelled;
      v_busy := v_busy || v_done.busy;
    end loop;
  end loop;
  passed_over := cardinality(v_busy);
end
$$;

comment on function admin.fire_due_switches() is
  'Fires the dead man''s switches that have expired and cancels their orders: how many, and how '
  'many locked markets it passed over. Private to the schema. Locks: those of '
  'jobs.due_dead_man_orders and jobs.cancel_dead_man_orders.';
