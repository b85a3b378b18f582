create or replace function admin.recover_account(user_id uuid, email text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(recover_account.user_id);
  v_before identity.users;
  v_ended json;
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('recover_account');
  perform identity.lock_account_to_change(v_user_id);
  select u.* into strict v_before
  from identity.users as u
  where u.id = v_user_id;
  update identity.users as u
  set email = recover_account.email
  where u.id = v_user_id;

  delete from identity.links as l
  where l.user_id = v_user_id;
  delete from identity.email_claims as c
  where c.user_id = v_user_id;
  delete from identity.passwords as p
  where p.user_id = v_user_id;
  v_ended := identity.ways_in(v_user_id);
  perform identity.end_ways_in(v_user_id);

  if identity.is_confirmed(v_before) and v_before.email <> recover_account.email then
    perform identity.queue_mail('email_changed', v_user_id, v_before.email);
  end if;
  perform identity.queue_mail('recovery', v_user_id, recover_account.email);
  perform admin.audit('recover_account', jsonb_build_object(
    'user_id', recover_account.user_id,
    'email', recover_account.email,
    'email_before', v_before.email,
    'ended', v_ended
  ));
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error('ALREADY_EXISTS', 'Another account has this e-mail address');
end
$$;

comment on function admin.recover_account(uuid, text) is
  'Gives an account that was taken over back to its owner. Ends all sessions, API keys, passkeys, '
  'links, the password and a change of address that was asked for; sets the address, which counts '
  'as confirmed; and mails a link to it that sets a password, also while the account is frozen. A '
  'mail to the address before says that it was changed. Errors: APPROVAL_REQUIRED, '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (erased), ALREADY_EXISTS (the address), '
  'UNFIT_SESSION. Locks: the account, its claim and links, the rows of its password, passkeys, '
  'keys and sessions.';
