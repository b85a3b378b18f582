create or replace function api.resend_confirmation(user_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.queue_mail('confirm_email', u.id, c.email)
  from identity.users as u
  join identity.email_claims as c on c.user_id = u.id
  where u.public_id = resend_confirmation.user_id
$$;

comment on function api.resend_confirmation(uuid) is
  'Sends the mail that confirms a user''s address again, if one waits for it.';
