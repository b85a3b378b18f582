create or replace function api.revoke_key(user_id uuid, session_id uuid, key_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    revoke_key.user_id, revoke_key.session_id
  );
  v_key_id bigint;
begin
  select k.id into v_key_id
  from identity.api_keys as k
  where k.public_id = revoke_key.key_id
    and k.user_id = v_user_id;
  if not found then
    return false;
  end if;
  perform identity.revoke_api_keys(array[v_key_id]);
  return true;
end
$$;

comment on function api.revoke_key(uuid, uuid, uuid) is
  'Ends an API key of a user; servers hear of it by api_key_revoked. Revoking it again changes '
  'nothing. False: the user has no such key. Errors: UNAUTHORIZED, UNFIT_SESSION. Locks: the '
  'account; the session, shared; the row of the key.';
