create or replace function api.add_passkey(
  user_id uuid,
  session_id uuid,
  challenge bytea,
  credential_id bytea,
  public_key bytea,
  sign_count bigint,
  transports text[],
  name text
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
  v_session_id bigint;
  v_passkey identity.passkeys;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  -- Held, so that the passkeys are counted one addition after the other.
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = add_passkey.user_id
  for no key update;
  -- Again: the session may have been fresh when the challenge was made.
  v_session_id := identity.fresh_session(add_passkey.user_id, add_passkey.session_id);
  if not identity.take_challenge(add_passkey.challenge, v_session_id) then
    perform core.raise_error('INVALID_PASSKEY');
  end if;
  perform identity.check_new_passkey(v_user.id);
  insert into identity.passkeys (
    user_id, credential_id, public_key, sign_count, transports, name, created_at
  )
  values (
    v_user.id, add_passkey.credential_id, add_passkey.public_key, add_passkey.sign_count,
    array(select distinct t.name from unnest(add_passkey.transports) as t (name) order by t.name),
    add_passkey.name, core.now()
  )
  returning * into v_passkey;
  perform identity.notify_user(
    'passkey_added', v_user.id, json_build_object('name', v_passkey.name)
  );
  return json_build_object('id', v_passkey.public_id, 'name', v_passkey.name);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error('ALREADY_EXISTS', 'This passkey is registered already');
end
$$;

comment on function api.add_passkey(uuid, uuid, bytea, bytea, bytea, bigint, text[], text) is
  'Adds a passkey that has signed a challenge of api.start_passkey, which is used up, and returns '
  'the body of POST /api/account/passkeys. The caller has checked the signature. A mail reports '
  'it. An account has at most 20. The session must have begun within the last 10 minutes. Errors: '
  'SIGN_IN_AGAIN, INVALID_PASSKEY (the challenge), ACCOUNT_FROZEN, EMAIL_UNCONFIRMED, '
  'INVALID_STATE, INVALID_REQUEST, ALREADY_EXISTS, UNFIT_SESSION. Locks: the row of the user in '
  'identity.users, for which no trading waits; the session, shared; the challenge.';
