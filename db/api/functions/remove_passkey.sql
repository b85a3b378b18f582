create or replace function api.remove_passkey(user_id uuid, session_id uuid, passkey_id uuid)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_passkey identity.passkeys;
begin
  perform core.check_session();
  -- Held, so that the ways in are counted one removal after the other.
  select u.id into strict v_user_id
  from identity.users as u
  where u.public_id = remove_passkey.user_id
  for no key update;
  perform identity.check_not_frozen(v_user_id);
  delete from identity.passkeys as p
  where p.public_id = remove_passkey.passkey_id
    and p.user_id = v_user_id
  returning p.* into v_passkey;
  if not found then
    return false;
  end if;
  -- The passkey is locked before the session, as by api.sign_in_by_passkey.
  perform identity.fresh_session(remove_passkey.user_id, remove_passkey.session_id);
  if not exists (select from identity.passwords as w where w.user_id = v_user_id)
    and not exists (select from identity.passkeys as p where p.user_id = v_user_id)
  then
    perform core.raise_error(
      'INVALID_STATE', 'This passkey is the only way into the account: set a password first'
    );
  end if;
  perform identity.notify_user(
    'passkey_removed', v_user_id, json_build_object('name', v_passkey.name)
  );
  return true;
end
$$;

comment on function api.remove_passkey(uuid, uuid, uuid) is
  'Removes a passkey of a user, in a session that began within the last 10 minutes. A mail '
  'reports it. False: the user has no such passkey. Errors: ACCOUNT_FROZEN, SIGN_IN_AGAIN, '
  'INVALID_STATE (there is no password and no other passkey), UNFIT_SESSION. Locks: the row of '
  'the user in identity.users, for which no trading waits; the passkey; the session, shared.';
