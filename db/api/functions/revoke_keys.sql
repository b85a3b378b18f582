create or replace function api.revoke_keys(user_id uuid, session_id uuid)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Held, so that a key is made before this, and revoked, or after it.
  v_user_id constant bigint := identity.lock_session(
    revoke_keys.user_id, revoke_keys.session_id
  );
  v_key_ids bigint[];
begin
  v_key_ids := array(
    select k.id
    from identity.api_keys as k
    where k.user_id = v_user_id
      and identity.is_key_in_force(k)
  );
  perform identity.revoke_api_keys(v_key_ids);
  return cardinality(v_key_ids);
end
$$;

comment on function api.revoke_keys(uuid, uuid) is
  'Ends all API keys of a user; servers hear of it by api_key_revoked. Returns how many ended. '
  'Errors: UNAUTHORIZED, UNFIT_SESSION. Locks: the account; the session, shared; the rows of the '
  'keys.';
