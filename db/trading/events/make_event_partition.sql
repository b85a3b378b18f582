create or replace function trading.make_event_partition(day timestamptz)
returns boolean
language plpgsql
as $$
declare
  v_day constant date := (make_event_partition.day at time zone 'UTC')::date;
  v_name constant text := 'sent_events_' || to_char(v_day, 'YYYY_MM_DD');
begin
  if to_regclass(format('trading.%I', v_name)) is not null then
    return false;
  end if;
  -- A transaction that attached a partition keeps this lock until every session knows of it.
  lock table only trading.sent_events in share update exclusive mode;
  if to_regclass(format('trading.%I', v_name)) is not null then
    return false;
  end if;
  -- Made apart and then attached, so that readers do not wait for it, nor it for readers.
  execute format(
    'create table trading.%I (like trading.sent_events including all)', v_name
  );
  execute format(
    'alter table trading.sent_events attach partition trading.%I for values from (%L) to (%L)',
    v_name, v_day::timestamp at time zone 'UTC', (v_day + 1)::timestamp at time zone 'UTC'
  );
  return true;
end
$$;

comment on function trading.make_event_partition(timestamptz) is
  'Makes the partition of trading.sent_events for a day (UTC); false if it is there. Its first row '
  'must be of a later transaction, because a reader that began before may not know the partition '
  'yet. Locks trading.sent_events against other changes of its partitions, not against reading and '
  'writing.';
