create or replace function identity.lock_session(user_id uuid, session_id uuid)
returns bigint
language plpgsql volatile
as $$
declare
  v_user_id bigint;
begin
  perform core.check_session();
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = lock_session.user_id
  for no key update;
  -- Held, so that the session is ended before this, or after what it asks for.
  perform
  from identity.sessions as s
  where s.public_id = lock_session.session_id
    and s.user_id = v_user_id
    and s.expires_at > core.now()
  for key share;
  if not found then
    perform core.raise_error('UNAUTHORIZED');
  end if;
  return v_user_id;
end
$$;

comment on function identity.lock_session(uuid, uuid) is
  'Begins what a user asks for in a session: locks the account, as identity.lock_account, and '
  'checks that the session is still in force: it may have ended since the request was let in. '
  'Returns the key of the user. Errors: UNAUTHORIZED, UNFIT_SESSION. Locks: the account; the '
  'session, shared.';
