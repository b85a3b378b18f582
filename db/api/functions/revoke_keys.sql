create or replace function api.revoke_keys(user_id uuid)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_key_ids bigint[];
begin
  perform core.check_session();
  -- Held, so that a key is made before this, and revoked, or after it.
  select u.id into strict v_user_id
  from identity.users as u
  where u.public_id = revoke_keys.user_id
  for no key update;
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

comment on function api.revoke_keys(uuid) is
  'Ends all API keys of a user; servers hear of it by api_key_revoked. Returns how many ended. '
  'Errors: UNFIT_SESSION. Locks: the row of the user in identity.users, for which no trading '
  'waits, and those of the keys.';
