create or replace function identity.lock_account(user_id bigint)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select
  from identity.users as u
  where u.id = lock_account.user_id
  for no key update
$$;

comment on function identity.lock_account(bigint) is
  'Locks the row of a user in identity.users, for which no trading waits. Who changes a password, '
  'an address or a passkey, makes a link, or opens a session, locks it before all else of the '
  'account: then markets, the row in trading.traders, mails, links, the claim, the password, '
  'passkeys, sessions. '
  'So what was compared after it still holds at the commit, and a session that opens while the '
  'password changes ends with it or is refused.';
