create or replace function api.rotate_key(
  user_id uuid, session_id uuid, key_id uuid, overlap_seconds int
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_old_id bigint;
  v_made identity.api_keys;
begin
  perform core.check_session();
  select k.id into v_old_id
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.public_id = rotate_key.key_id
    and u.public_id = rotate_key.user_id;
  if not found then
    return null;
  end if;
  perform identity.lock_key_maker(rotate_key.user_id, rotate_key.session_id);
  v_made := identity.rotate_api_key(
    key_id => v_old_id,
    overlap => make_interval(secs => rotate_key.overlap_seconds),
    key_hash => v_key_hash,
    key_prefix => left(v_key, 9)
  );
  perform identity.accept_new_key(v_made);
  return (
    select json_build_object(
      'id', v_made.public_id,
      'name', v_made.name,
      'key', v_key,
      'oldKeyEndsAt', core.iso8601(coalesce(k.revoked_at, k.expires_at))
    )
    from identity.api_keys as k
    where k.id = v_old_id
  );
end
$$;

comment on function api.rotate_key(uuid, uuid, uuid, int) is
  'Makes an API key in the place of another of its user (identity.rotate_api_key) and returns '
  'the body of POST /api/account/keys/:id/rotate, with the key, which is not kept. A mail '
  'reports it. Null: the user has no such key. Errors: UNAUTHORIZED, INVALID_REQUEST, '
  'ACCOUNT_FROZEN, EMAIL_UNCONFIRMED, INVALID_STATE, UNFIT_SESSION. Locks: the account; the '
  'session, shared; the row of the key.';
