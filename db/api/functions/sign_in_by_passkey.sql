create or replace function api.sign_in_by_passkey(
  challenge bytea,
  credential_id bytea,
  user_handle uuid,
  sign_count bigint,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
begin
  perform core.check_session();
  if not identity.take_challenge(sign_in_by_passkey.challenge, null) then
    return;
  end if;
  -- The account is locked before its passkeys.
  perform identity.lock_account(p.user_id)
  from identity.passkeys as p
  where p.credential_id = sign_in_by_passkey.credential_id;
  update identity.passkeys as p
  set sign_count = sign_in_by_passkey.sign_count, last_used_at = core.now()
  from identity.users as u
  where p.credential_id = sign_in_by_passkey.credential_id
    and u.id = p.user_id
    and u.public_id = sign_in_by_passkey.user_handle -- mutant: passkey_of_any_user
    and (
      p.sign_count < sign_in_by_passkey.sign_count -- mutant: count_may_stay
      -- The device does not count.
      or (p.sign_count = 0 and sign_in_by_passkey.sign_count = 0) -- mutant: count_may_end
    )
  returning p.user_id, u.public_id into v_user_id, user_id;
  if not found then
    return;
  end if;
  perform identity.report_sign_in(v_user_id, sign_in_by_passkey.browser);
  cookie := identity.open_session(
    v_user_id, sign_in_by_passkey.browser, sign_in_by_passkey.is_host_only,
    sign_in_by_passkey.ended_cookie_hash
  );
end
$$;

comment on function api.sign_in_by_passkey(
  bytea, bytea, uuid, bigint, text, boolean, bytea
) is
  'Opens a session for the user of a passkey that has signed a challenge of '
  'api.start_passkey_sign_in, which is used up, and returns its cookie, which is not kept. The '
  'caller has checked the signature by the key of api.get_passkey. Both results are null when the '
  'challenge is not valid, the passkey is not of the user with this handle, or it has signed no '
  'more often than before. Otherwise like api.sign_in. Errors: UNFIT_SESSION. Locks: the '
  'challenge, the account, the passkey, the rows of the sessions that end.';
