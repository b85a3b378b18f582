-- The outbox is empty whenever it is analyzed: without the settings each event is looked for in all
-- of it, dead rows included.
create or replace function api.relay_outbox()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
declare
  c_most_rows constant int := 1000;
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_at constant timestamptz := core.now();
  v_last_id bigint;
  v_done trading.outbox_relay;
  v_moves_on boolean;
  v_sent_id bigint;
  v_count bigint;
begin
  -- NOTIFY holds a lock through the commit: without the flush, that is a short time.
  set local synchronous_commit = off;

  -- One at a time, so that the ids of events are in the order of the commits.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  -- Read before this transaction gets its number, so all these ids are of lower-numbered ones: a
  -- transaction that writes an event has written something before, which gave it its number.
  select q.last_value - (not q.is_called)::int into v_last_id
  from trading.outbox_id_seq as q;
  select a.* into v_done
  from trading.outbox_relay as a;
  if not found then
    -- After a crash. No earlier id can be as high, unless there were a million events a second.
    v_done.last_event_id := floor(extract(epoch from v_at) * 1000000)::bigint;
    insert into trading.outbox_relay (sent_through_id, noted_id, noted_xid, last_event_id)
    values (0, 0, pg_current_xact_id(), v_done.last_event_id);
  end if;
  v_moves_on := coalesce(
    v_is_first_write
    and core.all_ended_before(v_done.noted_xid)
    and v_last_id > v_done.sent_through_id,
    false
  );

  with moved as (
    delete from trading.outbox as a
    where a.id in (
      select b.id
      from trading.outbox as b
      where b.id > coalesce(v_done.sent_through_id, 0)
      order by b.id
      limit c_most_rows
    )
    returning a.id, a.channel, a.payload
  ),
  sent as (
    insert into trading.sent_events (id, kind, payload, sent_at)
    select
      v_done.last_event_id + row_number() over (order by m.id), m.channel, m.payload, v_at
    from moved as m
  )
  select count(*), max(m.id) into v_count, v_sent_id
  from moved as m;

  if v_count > 0 or v_moves_on then
    update trading.outbox_relay as a set
      last_event_id = v_done.last_event_id + v_count,
      sent_through_id = case
        when not v_moves_on then a.sent_through_id
        when v_count < c_most_rows then a.noted_id
        else least(a.noted_id, v_sent_id)
      end,
      noted_id = case when v_moves_on then v_last_id else a.noted_id end,
      noted_xid = case when v_moves_on then pg_current_xact_id() else a.noted_xid end;
  end if;
  if v_count > 0 then
    notify pgmarkets_events;
  end if;
  return v_count;
end
$$;

comment on function api.relay_outbox() is
  'The relay of the outbox: moves the events of committed transactions to trading.sent_events, '
  'oldest first, at most 1,000 at a time, and sends a notification without content on channel '
  'pgmarkets_events; returns how many. Every server process calls it right after a command, and '
  'every 100 ms besides. Locks: an advisory lock of its own, so that there is one call at a time.';
