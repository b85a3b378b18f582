create or replace function api.confirm_email(token_hash bytea, handle text default null)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links := identity.take_link('confirm_email', confirm_email.token_hash);
  v_claim identity.email_claims;
  v_before identity.users;
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
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

comment on function api.confirm_email(bytea, text) is
  'Gives a user the address that a link proves, and at the end of a sign-up the handle. Returns '
  'both. A mail reports a change to the address before. Errors: INVALID_LINK, INVALID_REQUEST, '
  'ALREADY_EXISTS: the address, which is proven here, or the handle belongs to another user; then '
  'the link stays good, and another handle may be given. Locks: the link, the claim, the row of '
  'the user in identity.users, for which no trading waits.';
