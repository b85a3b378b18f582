create or replace function identity.lock_user(user_id uuid)
returns bigint
language plpgsql
as $$
declare
  v_id bigint;
begin
  perform core.check_session();
  select t.user_id into v_id
  from trading.traders as t
  where t.public_id = lock_user.user_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no user %s', lock_user.user_id));
  end if;
  return v_id;
end
$$;

comment on function identity.lock_user(uuid) is
  'Locks a user, by the row in trading.traders, and returns the key. Errors: NOT_FOUND, '
  'UNFIT_SESSION.';
