create or replace function api.change_email(
  user_id uuid, session_id uuid, email text, password_hash text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    change_email.user_id, change_email.session_id
  );
  v_constraint text;
  v_column text;
begin
  perform identity.check_not_frozen(v_user_id);
  if not identity.is_password(v_user_id, change_email.password_hash) then
    perform core.raise_error('WRONG_PASSWORD');
  end if;
  if exists (
    select
    from identity.users as u
    where u.id = v_user_id
      and lower(u.email collate "C") = lower(change_email.email collate "C")
  ) then
    perform core.raise_error('INVALID_REQUEST', 'This is your address already');
  end if;
  insert into identity.email_claims as c (user_id, email, created_at)
  values (v_user_id, change_email.email, core.now())
  on conflict on constraint email_claims_pkey do update
  set email = excluded.email, created_at = excluded.created_at;
  -- Links to an address that was asked for earlier prove nothing any more.
  delete from identity.links as l
  where l.user_id = v_user_id
    and l.kind = 'confirm_email';
  perform identity.request_mail('confirm_email', v_user_id, change_email.email);
  perform identity.notify_user(
    'email_change_asked', v_user_id, json_build_object('email', change_email.email)
  );
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.change_email(uuid, uuid, text, text) is
  'Asks for another e-mail address, which holds once the link in the mail to it is followed. A '
  'mail to the present address says so; a new password ends it. Errors: UNAUTHORIZED, '
  'ACCOUNT_FROZEN, WRONG_PASSWORD, INVALID_REQUEST, UNFIT_SESSION. Locks: the account; the '
  'session, shared; the claim, the links of the user; the mail that waits, if no worker has it.';
