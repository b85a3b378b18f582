create or replace function trading.archive_orders(most int, out looked_at int, out archived int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_delay constant interval := interval '30 days'; -- mutant: archive_a_day_early
  v_last_id bigint;
  v_at timestamptz;
  v_due timestamptz;
  v_again bigint[];
  v_new bigint[];
  v_ids bigint[];
  v_month timestamptz;
begin
  looked_at := 0;
  archived := 0;
  select p.last_order_id into v_last_id
  from trading.archive_progress as p
  for update skip locked;
  if not found then
    return;
  end if;
  v_at := core.now();
  v_due := v_at - c_delay;
  -- Weeks before its first order comes, so that no reader can find an order moved to a partition
  -- that its session does not know yet.
  perform trading.make_archive_partition(v_at);

  v_again := array(
    select q.order_id
    from trading.archive_queue as q
    where q.look_at <= v_at
    order by q.look_at
    limit archive_orders.most
  );
  v_new := array(
    select n.id
    from (
      select x.id, bool_and(x.created_at <= v_due) over (order by x.id) as is_old
      from (
        select o.id, o.created_at
        from trading.orders as o
        where o.id > v_last_id
        order by o.id
        limit archive_orders.most - cardinality(v_again)
      ) as x
    ) as n
    where n.is_old
    order by n.id
  );
  v_ids := v_again || v_new;
  looked_at := cardinality(v_ids);
  if looked_at = 0 then
    return;
  end if;

  for v_month in
    select distinct date_trunc('month', core.uuid_v7_time(o.public_id), 'UTC')
    from trading.orders as o
    where o.id = any (v_ids)
      and o.status = 'cancelled'
      and o.filled_quantity = 0
      and o.cancelled_at <= v_due
  loop
    perform trading.make_archive_partition(v_month);
  end loop;

  with moved as (
    delete from trading.orders as o
    where o.id = any (v_ids)
      and o.status = 'cancelled'
      and o.filled_quantity = 0 -- mutant: archive_takes_trades
      and o.cancelled_at <= v_due
    returning o.*
  )
  insert into trading.archived_orders
  select m.* from moved as m;
  get diagnostics archived = row_count;

  delete from trading.archive_queue as q
  where q.order_id = any (v_again);
  insert into trading.archive_queue (order_id, look_at)
  select o.id, coalesce(o.cancelled_at, v_at) + c_delay
  from trading.orders as o
  where o.id = any (v_ids)
    and o.filled_quantity = 0;

  if cardinality(v_new) > 0 then
    update trading.archive_progress as p
    set last_order_id = v_new[cardinality(v_new)];
  end if;
end
$$;

comment on function trading.archive_orders(int) is
  'Looks at orders that may be due for the archive, at most so many: those of '
  'trading.archive_queue, then, in the order of their ids, those that have become 30 days old. '
  'Moves the ones that were cancelled 30 days ago without a fill to trading.archived_orders, and '
  'notes when to look again at those that may become due later. Makes the partition of this month '
  'beforehand. Locks: the row of trading.archive_progress; does nothing while another transaction '
  'has it. Cancelled orders never change, so it needs no market.';
