create or replace function api.sign_in_by_passkey(
  challenge bytea,
  credential_id bytea,
  user_handle uuid,
  sign_count bigint,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  address inet default null,
  is_known boolean default null,
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
  v_user_id := identity.use_passkey(
    sign_in_by_passkey.challenge, sign_in_by_passkey.credential_id,
    sign_in_by_passkey.user_handle, sign_in_by_passkey.sign_count, sign_in_by_passkey.address
  );
  if v_user_id is null then
    return;
  end if;
  user_id := sign_in_by_passkey.user_handle;
  perform identity.report_sign_in(
    v_user_id, sign_in_by_passkey.browser, sign_in_by_passkey.is_known,
    sign_in_by_passkey.ended_cookie_hash
  );
  cookie := identity.open_session(
    v_user_id, sign_in_by_passkey.browser, sign_in_by_passkey.is_host_only,
    sign_in_by_passkey.ended_cookie_hash, sign_in_by_passkey.address
  );
end
$$;

comment on function api.sign_in_by_passkey(
  bytea, bytea, uuid, bigint, text, boolean, bytea, inet, boolean
) is
  'Opens a session for the user of a passkey that has signed a challenge of '
  'api.start_passkey_sign_in, which is used up, and returns its cookie, which is not kept. The '
  'caller has checked the signature by the key of api.get_passkey. Both results are null when the '
  'challenge is not valid, the passkey is not of the user with this handle, or it has signed no '
  'more often than before. Otherwise like api.sign_in. Errors: UNFIT_SESSION. Locks: the '
  'challenge, the account, the passkey, the rows of the sessions that end.';
