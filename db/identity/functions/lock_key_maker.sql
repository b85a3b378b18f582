create or replace function identity.lock_key_maker(user_id uuid, session_id uuid)
returns bigint
language plpgsql
as $$
declare
  -- Held, so that the keys are counted one creation after the other.
  v_user_id constant bigint := identity.lock_session(
    lock_key_maker.user_id, lock_key_maker.session_id
  );
begin
  perform identity.check_not_frozen(v_user_id);
  if not exists (
    select
    from identity.users as u
    where u.id = v_user_id
      and identity.is_confirmed(u)
  ) then
    perform core.raise_error('EMAIL_UNCONFIRMED');
  end if;
  return v_user_id;
end
$$;

comment on function identity.lock_key_maker(uuid, uuid) is
  'Begins a transaction in which a user makes an API key in a session (identity.lock_session), and '
  'returns the key of the user. Errors: UNAUTHORIZED, ACCOUNT_FROZEN, EMAIL_UNCONFIRMED, '
  'UNFIT_SESSION. Locks: the account; the session, shared.';
