create or replace function trading.notify_user(user_public_id uuid, event json)
returns void
language plpgsql
set search_path = ''
as $$
declare
  -- Two equal notifications of one transaction would arrive as one: a number tells them apart.
  v_id bigint := nextval('trading.event_payloads_id_seq');
  v_payload text := json_build_object(
    'id', v_id, 'userId', notify_user.user_public_id, 'event', notify_user.event
  )::text;
begin
  if octet_length(v_payload) > 7900 then
    insert into trading.event_payloads (id, payload, created_at) overriding system value
    values (v_id, notify_user.event, core.now());
    v_payload := json_build_object('id', v_id, 'userId', notify_user.user_public_id)::text;
  end if;
  perform pg_notify('user_event', v_payload);
end
$$;

comment on function trading.notify_user(uuid, json) is
  'Tells listeners on user_event what happened to a user. An event too long for a notification is '
  'kept in trading.event_payloads, and only its id is sent.';
