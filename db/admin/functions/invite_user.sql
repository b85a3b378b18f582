create or replace function admin.invite_user(email text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '336 hours';
  v_token text;
begin
  perform admin.check_role('invite_user');
  if identity.is_email(invite_user.email) is not true then
    perform core.raise_violation('users_email_looks_like_one', '');
  end if;
  if exists (
    select
    from identity.users as u
    where lower(u.email collate "C") = lower(invite_user.email collate "C")
  ) then
    perform core.raise_error('ALREADY_EXISTS', 'A user with this e-mail address already exists');
  end if;
  v_token := identity.make_link('invitation', null, invite_user.email, c_valid_for);
  perform identity.queue_mail('invitation', null, invite_user.email);
  perform admin.audit('invite_user', jsonb_build_object('email', invite_user.email));
  return '/sign-up#' || v_token;
end
$$;

comment on function admin.invite_user(text) is
  'Invites a person by e-mail to sign up with this address, for 14 days. The mail has the link; '
  'the path of another one is returned, to be given by other means. Errors: INVALID_REQUEST, '
  'ALREADY_EXISTS.';
