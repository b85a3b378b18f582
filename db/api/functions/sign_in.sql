create or replace function api.sign_in(
  email text,
  password_hash text,
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
  v_user identity.users;
begin
  select u.* into v_user
  from identity.users as u
  where lower(u.email collate "C") = lower(sign_in.email collate "C")
    and identity.is_confirmed(u);
  if not identity.is_password(v_user.id, sign_in.password_hash) then
    -- The password may be right for a sign-up whose address was never confirmed.
    perform identity.request_mail('confirm_email', c.user_id, c.email)
    from (
      select x.user_id, x.email
      from identity.email_claims as x
      where lower(x.email collate "C") = lower(sign_in.email collate "C")
        and x.handle is not null
        and v_user.id is null
        and identity.is_password(x.user_id, sign_in.password_hash)
      limit 1
    ) as c;
    return;
  end if;
  -- Compared again behind the lock: the password may have changed meanwhile. A wrong one locks
  -- nothing, so the time taken does not show that the address has an account.
  perform identity.lock_account(v_user.id);
  if not identity.is_password(v_user.id, sign_in.password_hash) then
    return;
  end if;
  user_id := v_user.public_id;
  perform identity.report_sign_in(
    v_user.id, sign_in.browser, sign_in.is_known, sign_in.ended_cookie_hash
  );
  cookie := identity.open_session(
    v_user.id, sign_in.browser, sign_in.is_host_only, sign_in.ended_cookie_hash,
    sign_in.address
  );
end
$$;

comment on function api.sign_in(text, text, text, boolean, bytea, inet, boolean) is
  'Opens a session for the user with this e-mail address and password, and returns its cookie, '
  'which is not kept; both are null when either is wrong. password_hash is computed as '
  'api.get_password_settings says. With the password of a sign-up whose address is not confirmed, '
  'the mail to confirm it is sent again, of one sign-up if several have it. Ends the session that '
  'the browser had before. A mail reports the sign-in unless the browser is known '
  '(identity.report_sign_in). Locks: the account, the rows of the sessions that end; the mail that '
  'waits, if no worker has it.';
