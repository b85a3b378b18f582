create or replace function api.request_password_reset(email text)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.request_mail('password_reset', null, request_password_reset.email)
$$;

comment on function api.request_password_reset(text) is
  'Asks for a mail with a link to set a password. Only jobs.take_mail looks whether the address '
  'has an account, so this call takes the same time for every address. '
  'Locks: the mail that waits, if no worker has it.';
