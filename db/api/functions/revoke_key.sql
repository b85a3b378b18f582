create or replace function api.revoke_key(user_id uuid, key_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_id bigint;
begin
  select k.id into v_key_id
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.public_id = revoke_key.key_id
    and u.public_id = revoke_key.user_id;
  if not found then
    return false;
  end if;
  perform identity.revoke_api_keys(array[v_key_id]);
  return true;
end
$$;

comment on function api.revoke_key(uuid, uuid) is
  'Ends an API key of a user; servers hear of it by api_key_revoked. Revoking it again changes '
  'nothing. False: the user has no such key. Locks: the row of the key.';
