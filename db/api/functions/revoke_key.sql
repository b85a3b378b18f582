create or replace function api.revoke_key(user_id uuid, key_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update identity.api_keys as k
  set revoked_at = coalesce(k.revoked_at, core.now())
  from identity.users as u
  where k.public_id = revoke_key.key_id
    and u.id = k.user_id
    and u.public_id = revoke_key.user_id;
  if not found then
    return false;
  end if;
  insert into trading.outbox (channel, payload)
  values ('api_key_revoked', json_build_object('apiKeyId', revoke_key.key_id));
  return true;
end
$$;

comment on function api.revoke_key(uuid, uuid) is
  'Ends an API key of a user; servers hear of it by api_key_revoked. Revoking it again changes '
  'nothing. False: the user has no such key. Locks: the row of the key.';
