create or replace function identity.lock_key_maker(user_id uuid)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
begin
  -- Held, so that the keys are counted one creation after the other.
  select u.* into strict v_user
  from identity.users as u
  where u.public_id = lock_key_maker.user_id
  for no key update;
  perform identity.check_not_frozen(v_user.id);
  if not identity.is_confirmed(v_user) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  return v_user.id;
end
$$;

comment on function identity.lock_key_maker(uuid) is
  'Begins a transaction in which a user makes an API key: locks the user, and returns the key of '
  'the row. Errors: ACCOUNT_FROZEN, EMAIL_UNCONFIRMED. Locks: the row of the user in '
  'identity.users, for which no trading waits.';
