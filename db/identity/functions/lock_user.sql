create or replace function identity.lock_user(user_id uuid)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  perform core.check_session();
  select a.user_id into v_id
  from ledger.accounts as a
  join identity.users as u on u.id = a.user_id
  where u.public_id = lock_user.user_id
  for no key update of a;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', lock_user.user_id));
  end if;
  return v_id;
end
$$;

comment on function identity.lock_user(uuid) is
  'Locks a user, by the row of their cash account, and returns the key. Errors: '
  'NOT_FOUND, UNFIT_SESSION.';
