-- The outbox is empty whenever it is analyzed: without the settings each event is looked for in all
-- of it, dead rows included.
create or replace function api.relay_outbox()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  c_most_rows constant int := 1000;
  c_longest_silence constant interval := interval '1 hour';
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_at constant timestamptz := core.now();
  v_cluster constant text := (pg_control_system()).system_identifier || '.'
    || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  v_found record;
  v_last_id bigint;
  v_done trading.outbox_relay;
  v_moves_on boolean;
  v_sent_id bigint;
  v_count bigint;
  v_ids bigint;
  v_positions bigint;
  v_ticks boolean;
begin
  -- One at a time, so that the ids of events are in the order of the commits. The commit is flushed
  -- like any other: what servers have delivered under an id must be there under it after a crash.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  -- Read before this transaction gets its number, so all these ids are of lower-numbered ones: a
  -- transaction that writes an event has written something before, which gave it its number.
  select a as done, q.last_value - (not q.is_called)::int as last_id into strict v_found
  from trading.outbox_relay as a
  cross join trading.outbox_id_seq as q;
  v_done := v_found.done;
  v_last_id := v_found.last_id;
  -- The partition of the day is there if an event of the day was sent. Its first row must be of a
  -- later transaction than the one that makes it.
  if (v_done.last_sent_at at time zone 'UTC')::date is distinct from (v_at at time zone 'UTC')::date
    and trading.make_event_partition(v_at)
  then
    return 1;
  end if;
  if v_done.cluster <> v_cluster then
    -- No lost id can be as high, unless there were a million events a second.
    v_done.last_event_id :=
      greatest(v_done.last_event_id + 1, floor(extract(epoch from v_at) * 1000000)::bigint);
    v_done.last_position :=
      greatest(v_done.last_position + 1, floor(extract(epoch from v_at) * 1000000)::bigint);
  end if;
  v_moves_on := coalesce(
    v_is_first_write
    and core.all_ended_before(v_done.noted_xid)
    and v_last_id > v_done.sent_through_id,
    false
  );

  with moved as (
    delete from trading.outbox as a
    -- An array, not in (...): a plan made on an empty table would join, and read the list anew
    -- for each row.
    where a.id = any (array(
      select b.id
      from trading.outbox as b
      where b.id > v_done.sent_through_id
      order by b.id
      limit c_most_rows
    ))
    returning
      a.id, a.channel, a.payload, a.user_id, a.trade_ids, a.traded_at, a.user_ids,
      trading.ids_of_event(a.payload) as ids,
      1 + coalesce(cardinality(a.trade_ids), 0) as positions
  ),
  sent as (
    insert into trading.sent_events (
      id, position, kind, payload, sent_at, user_id, trade_ids, traded_at, user_ids
    )
    select
      v_done.last_event_id + sum(m.ids) over by_id,
      v_done.last_position + sum(m.positions) over by_id,
      m.channel, m.payload, v_at,
      case when m.channel = 'user_event' then coalesce(
        m.user_id,
        (
          select t.user_id
          from trading.traders as t
          where t.public_id = (m.payload ->> 'userId')::uuid
          limit 1
        )
      ) end,
      m.trade_ids, m.traded_at, m.user_ids
    from moved as m
    window by_id as (order by m.id)
  )
  select count(*), max(m.id), coalesce(sum(m.ids), 0), coalesce(sum(m.positions), 0)
  into v_count, v_sent_id, v_ids, v_positions
  from moved as m;

  -- So that the last id of a quiet exchange is never old.
  v_ticks := v_count = 0 and v_at > v_done.last_sent_at + c_longest_silence;
  if v_ticks then
    insert into trading.sent_events (id, position, kind, payload, sent_at)
    values (v_done.last_event_id + 1, v_done.last_position + 1, 'tick', '{}', v_at);
    v_ids := 1;
    v_positions := 1;
  end if;

  if v_positions > 0 or v_moves_on then
    update trading.outbox_relay as a set
      last_event_id = case
        when v_positions > 0 then v_done.last_event_id + v_ids
        else a.last_event_id
      end,
      last_position = case
        when v_positions > 0 then v_done.last_position + v_positions else a.last_position
      end,
      last_sent_at = case when v_positions > 0 then v_at else a.last_sent_at end,
      cluster = case when v_positions > 0 then v_cluster else a.cluster end,
      sent_through_id = case
        when not v_moves_on then a.sent_through_id
        when v_count < c_most_rows then a.noted_id
        else least(a.noted_id, v_sent_id)
      end,
      noted_id = case when v_moves_on then v_last_id else a.noted_id end,
      noted_xid = case when v_moves_on then pg_current_xact_id() else a.noted_xid end;
  end if;
  if v_positions > 0 then
    perform pg_notify('pgmarkets_events', (v_done.last_event_id + v_ids)::text);
  end if;
  return v_count;
end
$$;

comment on function api.relay_outbox() is
  'The relay of the outbox: moves the events of committed transactions to trading.sent_events, '
  'oldest first, at most 1,000 at a time, numbers them, and notifies of the last id on channel '
  'pgmarkets_events; returns how many, or 1 when it has made the partition of the day and is to be '
  'called again. Every server process calls it 10 ms after a command, and every 100 ms besides. '
  'Locks: an advisory lock of its own, so that there is one call at a time.';
