create or replace function jobs.remove_sent_events(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
  c_kept constant interval := interval '25 hours';
  v_last_name constant text := 'sent_events_'
    || to_char((core.now() - c_kept) at time zone 'UTC', 'YYYY_MM_DD');
  v_name text;
  v_last_id bigint;
  v_count int := 0;
begin
  -- The relay's lock: nothing is sent while a partition goes.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);
  for v_name in
    select c.relname::text
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhrelid
    where i.inhparent = 'trading.sent_events'::regclass
      and c.relname < v_last_name
    order by c.relname
    limit remove_sent_events.most
  loop
    execute format('select max(e.id) from trading.%I as e', v_name) into v_last_id;
    execute format('drop table trading.%I', v_name);
    update trading.outbox_relay as r
    set removed_through_id = greatest(r.removed_through_id, v_last_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

comment on function jobs.remove_sent_events(int) is
  'Drops the partitions of trading.sent_events whose events were all sent more than 25 hours ago, '
  'at most so many; returns how many. May fail with 55P03 while somebody reads them for long: call '
  'it again. Locks: the relay''s advisory lock, then trading.sent_events, for which it waits '
  '250 ms at most.';
