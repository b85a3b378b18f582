create or replace function admin.rotate_api_key(key_id uuid, overlap interval default '1 day')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_old_id bigint;
  v_user_id bigint;
  v_made identity.api_keys;
begin
  perform admin.check_approval('rotate_api_key');
  select k.id, k.user_id into v_old_id, v_user_id
  from identity.api_keys as k
  where k.public_id = rotate_api_key.key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no API key %s', coalesce(rotate_api_key.key_id::text, 'null')
    ));
  end if;
  perform identity.lock_account(v_user_id);
  v_made := identity.rotate_api_key(
    key_id => v_old_id,
    overlap => rotate_api_key.overlap,
    key_hash => v_key_hash,
    key_prefix => left(v_key, 9)
  );
  perform admin.audit('rotate_api_key', jsonb_build_object(
    'key_id', rotate_api_key.key_id,
    'overlap', rotate_api_key.overlap,
    'new_key_id', v_made.public_id
  ));
  perform admin.report_to_user('new_key', v_user_id, identity.key_details(v_made));
  return v_key;
end
$$;

comment on function admin.rotate_api_key(uuid, interval) is
  'Makes an API key in the place of another and returns it; it is not kept and can never be shown '
  'again. It has the name, the scopes, the addresses and the life of the other, which is valid for '
  'the overlap from now on: 0, or from 5 minutes to 7 days. A mail reports what a member of staff '
  'does. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, INVALID_STATE (it is not in force, or was '
  'rotated before), NOT_FOUND, UNFIT_SESSION. Locks: the rows of the user and of the key.';
