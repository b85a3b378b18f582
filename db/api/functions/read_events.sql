create or replace function api.read_events(after_id bigint default null, most int default 1000)
returns table (id bigint, kind text, payload json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_last_id bigint := coalesce(
    (select a.last_event_id from trading.outbox_relay as a where a.singleton), 0
  );
begin
  if v_last_id = read_events.after_id then
    return;
  end if;
  if v_last_id > read_events.after_id and exists (
    select from trading.sent_events as e where e.id = read_events.after_id + 1
  ) then
    return query
    select e.id, e.kind, e.payload
    from trading.sent_events as e
    where e.id > read_events.after_id
    order by e.id
    limit read_events.most;
  else
    return query select v_last_id, null::text, null::json;
  end if;
end
$$;

comment on function api.read_events(bigint, int) is
  'The events after an id, oldest first, at most so many; no row if there are none. If the event '
  'right after that id is not kept any more, if no event has that id yet, or without an id: one '
  'row without kind and payload, whose id is where to continue; events may be missing before it.';
