create or replace function trading.make_archive_partition(
  month timestamptz, readers_wait boolean default false
)
returns void
language plpgsql
as $$
declare
  v_from constant timestamptz := date_trunc('month', make_archive_partition.month, 'UTC');
  v_to constant timestamptz := (v_from at time zone 'UTC' + interval '1 month') at time zone 'UTC';
  v_name constant text := 'archived_orders_' || to_char(v_from at time zone 'UTC', 'YYYY_MM');
begin
  -- A transaction that attached a partition keeps this lock until every session knows of the
  -- partition. Its advisory lock ends a moment before.
  lock table only trading.archived_orders in share update exclusive mode;
  if to_regclass(format('trading.%I', v_name)) is not null then
    return;
  end if;
  if make_archive_partition.readers_wait then
    lock table only trading.archived_orders in access exclusive mode;
  end if;
  -- Made apart and then attached, so that readers of the archive do not wait for it, nor it for
  -- readers, unless they shall.
  execute format(
    'create table trading.%I (like trading.archived_orders including all, primary key (public_id))',
    v_name
  );
  execute format(
    'create trigger archived_orders_are_append_only '
    'before update or delete or truncate on trading.%I '
    'for each statement execute function ledger.refuse_change()',
    v_name
  );
  execute format(
    'alter table trading.archived_orders attach partition trading.%I for values from (%L) to (%L)',
    v_name, core.uuid_v7_at(v_from), core.uuid_v7_at(v_to)
  );
end
$$;

comment on function trading.make_archive_partition(timestamptz, boolean) is
  'Makes the partition of trading.archived_orders for a month (UTC), unless it is there. '
  'readers_wait: readers of the archive wait for the end of the transaction if it is made, which '
  'they must if the same transaction fills it: a session knows a partition only a moment after '
  'its rows can be seen. The caller holds the advisory lock of trading.archive_orders(), so that '
  'no other transaction makes it too. Locks trading.archived_orders against other changes of its '
  'partitions.';
