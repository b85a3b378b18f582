create or replace function trading.archive_orders(most int)
returns int
language plpgsql
as $$
declare
  c_at constant timestamptz := core.now();
  c_due constant timestamptz := c_at - interval '720 hours';
  v_away timestamptz[];
  v_ids bigint[];
  v_month timestamptz;
begin
  perform core.check_session();
  if not pg_try_advisory_xact_lock((29037::bigint << 44) - 2) then
    return 0;
  end if;
  -- Weeks before its first order comes: then no reader has to wait for it.
  perform trading.make_archive_partition(
    c_at, readers_wait => date_trunc('month', c_at, 'UTC') <= c_due
  );

  -- Two servers do not commit together. So orders of a month that has moved to another one stay.
  v_away := array(
    select to_date(right(c.relname, 7), 'YYYY_MM')::timestamp at time zone 'UTC'
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhrelid
    where i.inhparent = 'trading.archived_orders'::regclass
      and c.relkind = 'f'
  );
  v_ids := array(
    select e.id
    from trading.ended_orders as e
    where e.filled_quantity = 0
      and e.ended_at <= c_due
      and date_trunc('month', core.uuid_v7_time(e.public_id), 'UTC') <> all (v_away)
    order by e.ended_at
    limit archive_orders.most
  );
  for v_month in
    select distinct date_trunc('month', core.uuid_v7_time(e.public_id), 'UTC')
    from trading.ended_orders as e
    where e.id = any (v_ids)
  loop
    -- Hardly ever: no worker archived in all of that month.
    perform trading.make_archive_partition(v_month, readers_wait => true);
  end loop;

  with moved as (
    delete from trading.ended_orders as e
    where e.id = any (v_ids)
    returning e.*
  )
  insert into trading.archived_orders (
    id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
    budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
    expires_at, release_at, released_at, cancelled_at
  )
  select
    m.id, m.public_id, m.market_id, m.user_id, m.side, m.order_type, m.price, m.quantity,
    m.filled_quantity, m.budget_cents, m.time_in_force, m.post_only, m.status, m.cancel_reason,
    m.fee_cents, m.created_at, m.expires_at, m.release_at, m.released_at, m.ended_at
  from moved as m;
  return cardinality(v_ids);
end
$$;

comment on function trading.archive_orders(int) is
  'Moves orders that were cancelled 30 days ago without a fill to trading.archived_orders, at '
  'most so many, and returns how many. Makes the partition of this month beforehand. Locks: an '
  'advisory lock of its own; does nothing while another transaction has it. If the partition of an '
  'earlier month is missing, trading.archived_orders, for which readers of the archive wait. Ended '
  'orders never change, so it needs no market. Leaves orders of months whose partition is on '
  'another server.';
