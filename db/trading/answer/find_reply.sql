create or replace function trading.find_reply(
  user_id bigint, key uuid, request_fingerprint uuid
)
returns core.result
language plpgsql volatile
as $$
declare
  v_at constant timestamptz := core.now();
  v_kept trading.idempotency_keys;
begin
  if find_reply.key is null then
    return null;
  end if;
  select k.* into v_kept
  from trading.idempotency_keys as k
  where k.user_id = find_reply.user_id
    and k.key = find_reply.key
    and k.created_at > v_at - trading.key_lifetime();
  if not found then
    return null;
  elsif v_kept.request_fingerprint is distinct from find_reply.request_fingerprint then
    return ('IDEMPOTENCY_KEY_REUSED', null, false, null)::core.result;
  elsif v_kept.reply is null then
    return null;
  end if;
  return (null, null, true, v_kept.reply)::core.result;
end
$$;

comment on function trading.find_reply(bigint, uuid, uuid) is
  'What a user''s idempotency key says of a command other than an order: its first answer, as a '
  'replay; IDEMPOTENCY_KEY_REUSED, if the key was used by another request; null, if the command is '
  'to be carried out. To be asked under the locks of the command, and before, so that a replay '
  'waits for none of them.';
