create or replace function api.confirm_email(
  token_hash bytea,
  handle text default null,
  user_id uuid default null,
  session_id uuid default null,
  password_hash text default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links;
  v_claim identity.email_claims;
  v_before identity.users;
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
  perform core.check_session();
  -- The account is locked before its password is compared.
  perform identity.lock_account(l.user_id)
  from identity.links as l
  where l.token_hash = confirm_email.token_hash
    and l.kind = 'confirm_email';
  -- Who owns the mailbox need not be who gave its address, and knows the password.
  if exists (
    select
    from identity.links as l
    join identity.users as u on u.id = l.user_id
    where l.token_hash = confirm_email.token_hash
      and l.kind = 'confirm_email'
      and l.expires_at > core.now()
      and not exists (
        select
        from identity.sessions as s
        where s.user_id = u.id
          and s.public_id = confirm_email.session_id
          and u.public_id = confirm_email.user_id
          and s.expires_at > core.now()
        for key share
      )
      and not identity.is_password(u.id, confirm_email.password_hash)
  ) then
    return null;
  end if;
  v_link := identity.take_link('confirm_email', confirm_email.token_hash);
  perform identity.check_not_frozen(v_link.user_id);
  delete from identity.email_claims as c
  where c.user_id = v_link.user_id
    and c.email = v_link.email
  returning c.* into v_claim;
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  select u.* into strict v_before
  from identity.users as u
  where u.id = v_link.user_id;

  update identity.users as u set
    email = v_claim.email,
    -- Of a sign-up; another may be chosen if it was taken meanwhile.
    handle = case
      when v_claim.handle is null then u.handle
      else coalesce(confirm_email.handle, v_claim.handle)
    end
  where u.id = v_link.user_id
  returning u.* into v_user;

  delete from identity.links as l
  where l.user_id = v_user.id
    and l.kind = 'password_reset';
  if identity.is_confirmed(v_before) then
    perform identity.queue_mail('email_changed', v_user.id, v_before.email);
  end if;
  return json_build_object('email', v_user.email, 'handle', v_user.handle);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    get stacked diagnostics v_constraint = constraint_name;
    perform identity.raise_taken(v_constraint);
end
$$;

comment on function api.confirm_email(bytea, text, uuid, uuid, text) is
  'Gives a user the address that a link proves, and at the end of a sign-up the handle. Returns '
  'both. It needs a session in force, or the hash of the password, of the same account; '
  'otherwise it returns null and the link stays good. A mail reports a change to the address '
  'before. Errors: INVALID_LINK, ACCOUNT_FROZEN, INVALID_REQUEST, ALREADY_EXISTS: the address, '
  'which is proven here, or the handle belongs to another user; then the link stays good, and '
  'another handle may be given. Locks: the account, the link, the claim.';
