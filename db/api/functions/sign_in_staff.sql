create or replace function api.sign_in_staff(
  email text,
  password_hash text,
  challenge bytea,
  credential_id bytea,
  user_handle uuid,
  sign_count bigint,
  browser text default null,
  ended_cookie_hash bytea default null,
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
  -- Used up whatever follows, so each attempt needs a signature of its own.
  if not identity.take_challenge(sign_in_staff.challenge, null) then
    return;
  end if;
  select s.* into v_member
  from identity.staff as s
  where lower(s.email collate "C") = lower(sign_in_staff.email collate "C")
    and s.removed_at is null
    and s.public_id = sign_in_staff.user_handle
    -- Hashes are compared, so the time taken says nothing about the digest.
    and sha256(convert_to(s.password_hash, 'UTF8'))
      = sha256(convert_to(sign_in_staff.password_hash, 'UTF8'))
  for no key update;
  if not found then
    return;
  end if;
  update identity.staff_passkeys as p
  set sign_count = sign_in_staff.sign_count,
    last_used_at = core.now(),
    last_used_address = identity.plain_address(sign_in_staff.address)
  where p.credential_id = sign_in_staff.credential_id
    and p.staff_id = v_member.id
    and (
      p.sign_count < sign_in_staff.sign_count
      -- The device does not count.
      or (p.sign_count = 0 and sign_in_staff.sign_count = 0)
    );
  if not found then
    return;
  end if;
  staff_id := v_member.public_id;
  cookie := identity.open_staff_session(
    v_member.id, sign_in_staff.browser, sign_in_staff.ended_cookie_hash, sign_in_staff.address
  );
end
$$;

comment on function api.sign_in_staff(
  text, text, bytea, bytea, uuid, bigint, text, bytea, inet
) is
  'Opens a session for the member of staff with this e-mail address and password, one of whose '
  'passkeys has signed a challenge of api.start_passkey_sign_in, and returns its cookie, which is '
  'not kept. The caller has checked the signature by the key of api.get_staff_passkey. Both '
  'results are null if any of the three is wrong; the challenge is used up. Errors: UNFIT_SESSION. '
  'Locks: the challenge, the member, the passkey, the rows of the sessions that end.';
