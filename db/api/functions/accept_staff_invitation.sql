create or replace function api.accept_staff_invitation(
  token_hash bytea,
  password_hash text,
  challenge bytea,
  credential_id bytea,
  public_key bytea,
  sign_count bigint,
  transports text[],
  passkey_name text,
  browser text default null,
  address inet default null,
  out staff_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member identity.staff;
begin
  perform core.check_session();
  if not identity.take_challenge(accept_staff_invitation.challenge, null) then
    perform core.raise_error('INVALID_PASSKEY');
  end if;
  -- The member is locked before the links.
  select s.* into v_member
  from identity.links as l
  join identity.staff as s on s.id = l.staff_id
  where l.token_hash = accept_staff_invitation.token_hash
    and s.removed_at is null
  for no key update of s;
  delete from identity.links as l
  where l.token_hash = accept_staff_invitation.token_hash
    and l.staff_id = v_member.id
    and l.expires_at > core.now();
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  perform identity.end_staff_access(v_member.id);
  update identity.staff as s
  set password_hash = accept_staff_invitation.password_hash, password_changed_at = core.now()
  where s.id = v_member.id;
  perform identity.insert_staff_passkey(
    v_member.id, accept_staff_invitation.credential_id, accept_staff_invitation.public_key,
    accept_staff_invitation.sign_count, accept_staff_invitation.transports,
    accept_staff_invitation.passkey_name
  );
  perform admin.audit_access(
    'accept_staff_invitation', v_member.id, accept_staff_invitation.passkey_name
  );
  staff_id := v_member.public_id;
  cookie := identity.open_staff_session(
    v_member.id, accept_staff_invitation.browser, null, accept_staff_invitation.address
  );
end
$$;

comment on function api.accept_staff_invitation(
  bytea, text, bytea, bytea, bytea, bigint, text[], text, text, inet
) is
  'Sets the password and the first passkey of the member of staff whom a link invites, and opens '
  'a session, whose cookie it returns. The passkey has signed a challenge of '
  'api.start_passkey_sign_in, which is used up; the caller has checked the signature. The audit '
  'log has a row of it. What gave access before ends, and the link with all others of the member. '
  'Errors: INVALID_LINK, INVALID_PASSKEY (the challenge), INVALID_REQUEST, ALREADY_EXISTS (the '
  'passkey), UNFIT_SESSION. Locks: the challenge, the member, the rows that end.';
