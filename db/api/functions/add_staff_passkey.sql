create or replace function api.add_staff_passkey(
  session_id uuid,
  challenge bytea,
  credential_id bytea,
  public_key bytea,
  sign_count bigint,
  transports text[],
  name text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staff_id bigint;
  v_email text;
begin
  perform core.check_session();
  -- Held, so that the passkeys are counted one addition after the other.
  select m.id, m.email into v_staff_id, v_email
  from identity.staff as m
  where m.id = identity.staff_of_fresh_session(add_staff_passkey.session_id)
  for no key update;
  -- Read again behind the lock: what locks the member may have ended the session.
  if v_staff_id is null
    or identity.staff_of_fresh_session(add_staff_passkey.session_id) is null
  then
    perform core.raise_error('SIGN_IN_AGAIN');
  end if;
  if not identity.take_challenge(add_staff_passkey.challenge, null) then
    perform core.raise_error('INVALID_PASSKEY');
  end if;
  perform identity.insert_staff_passkey(
    v_staff_id, add_staff_passkey.credential_id, add_staff_passkey.public_key,
    add_staff_passkey.sign_count, add_staff_passkey.transports, add_staff_passkey.name
  );
  perform admin.audit_access('add_staff_passkey', v_staff_id, add_staff_passkey.name);
  perform identity.queue_mail(
    'staff_passkey_added', null, v_email, json_build_object('name', add_staff_passkey.name)
  );
end
$$;

comment on function api.add_staff_passkey(
  uuid, bytea, bytea, bytea, bigint, text[], text
) is
  'Adds a passkey of the member of staff whose session this is; it has signed a challenge of '
  'api.start_passkey_sign_in, which is used up. The caller has checked the signature. The session '
  'must have begun within the last 10 minutes. The audit log has a row of it, and the member '
  'gets a mail. Errors: SIGN_IN_AGAIN, INVALID_PASSKEY (the challenge), INVALID_REQUEST, '
  'INVALID_STATE, ALREADY_EXISTS, UNFIT_SESSION. Locks: the member, the challenge.';
