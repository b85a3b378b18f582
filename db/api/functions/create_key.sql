create or replace function api.create_key(user_id uuid, name text)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 50;
  c_most_a_day constant int := 100;
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_user identity.users;
  v_key_id uuid;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  -- Held, so that the keys are counted one creation after the other.
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = create_key.user_id
  for no key update;
  if not identity.is_confirmed(v_user) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = v_user.id
      and k.revoked_at is null
  ) >= c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s keys: revoke one first', c_most)
    );
  end if;
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = v_user.id
      and k.created_at > core.now() - interval '1 day' -- mutant: keys_without_end
  ) >= c_most_a_day then
    perform core.raise_error(
      'INVALID_STATE', format('An account makes at most %s keys in 24 hours', c_most_a_day)
    );
  end if;
  insert into identity.api_keys (user_id, name, key_hash)
  values (v_user.id, create_key.name, v_key_hash)
  returning public_id into v_key_id;
  perform identity.notify_user(
    'new_key', v_user.id, json_build_object('name', create_key.name)
  );
  return json_build_object('id', v_key_id, 'name', create_key.name, 'key', v_key);
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.create_key(uuid, text) is
  'Makes an API key for its user and returns the body of POST /api/account/keys, with the key, '
  'which is not kept. A mail reports it. At most 50 keys are in force, and 100 are made in 24 '
  'hours. Errors: INVALID_REQUEST, EMAIL_UNCONFIRMED, INVALID_STATE, UNFIT_SESSION. Locks: the '
  'row of the user in identity.users, for which no trading waits.';
