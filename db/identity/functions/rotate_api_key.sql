create or replace function identity.rotate_api_key(
  key_id bigint, overlap interval, key_hash bytea, key_prefix text
)
returns identity.api_keys
language plpgsql volatile
as $$
declare
  c_least constant interval := '5 minutes';
  c_most constant interval := '168 hours';
  -- A moment of a later year would not be written with four digits.
  c_last constant timestamptz := timestamptz '9999-12-31T23:59:59.999Z';
  v_at timestamptz := core.now();
  v_old identity.api_keys;
begin
  -- A shorter overlap could end before each server has looked at the key anew.
  if rotate_api_key.overlap is null
    or not (rotate_api_key.overlap = '0' or rotate_api_key.overlap between c_least and c_most)
  then
    perform core.raise_error(
      'INVALID_REQUEST', 'The overlap must be zero, or from 5 minutes to 7 days'
    );
  end if;
  select k.* into strict v_old
  from identity.api_keys as k
  where k.id = rotate_api_key.key_id
  for no key update;
  if not identity.is_key_in_force(v_old) then
    perform core.raise_error('INVALID_STATE', 'The key is not in force any more');
  end if;
  if exists (
    select
    from identity.api_keys as k
    where k.replaces = v_old.id
  ) then
    perform core.raise_error('INVALID_STATE', 'The key was rotated before, and ends by itself');
  end if;

  if rotate_api_key.overlap = '0' then
    perform identity.revoke_api_keys(array[v_old.id]);
  else
    update identity.api_keys as k
    set expires_at = least(
      k.expires_at, (v_at at time zone 'UTC' + rotate_api_key.overlap) at time zone 'UTC'
    )
    where k.id = v_old.id;
  end if;
  return identity.add_api_key(
    user_id => v_old.user_id,
    name => v_old.name,
    key_hash => rotate_api_key.key_hash,
    key_prefix => rotate_api_key.key_prefix,
    scopes => v_old.scopes,
    expires_at => case when v_old.expires_at is not null then
      least(v_at
        + extract(epoch from v_old.expires_at - v_old.created_at) * interval '1 second', c_last)
    end,
    allowed_addresses => v_old.allowed_addresses,
    replaces => v_old.id
  );
end
$$;

comment on function identity.rotate_api_key(bigint, interval, bytea, text) is
  'Makes a key with this SHA-256 and beginning in the place of another: with its name, scopes, '
  'addresses and, if it expires, as long a life, to the end of the year 9999 at most. The other '
  'one is valid for an overlap from now on, and not longer than it was; with an overlap of zero it '
  'is revoked. A key is rotated once. Errors: INVALID_REQUEST, INVALID_STATE. Locks: the row of '
  'the key.';
