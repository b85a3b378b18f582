create or replace function api.send_events(after_id bigint default null, most int default 1000)
returns table (id bigint, "position" bigint, kind text, payload json, user_ids uuid[])
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform api.relay_outbox();
  return query select e.* from api.follow_events(send_events.after_id, send_events.most) as e;
end
$$;

comment on function api.send_events(bigint, int) is
  'Sends events as api.relay_outbox does, and returns those after an id as api.follow_events does: '
  'a server that sends the events of its command need not ask for them. Locks: those of '
  'api.relay_outbox.';
