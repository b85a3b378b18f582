create or replace function identity.fresh_session(user_id uuid, session_id uuid)
returns bigint
language plpgsql volatile
as $$
declare
  c_fresh_for constant interval := '10 minutes';
  v_id bigint;
begin
  perform core.check_session();
  -- Locked, so that the session still exists when a challenge refers to it.
  select s.id into v_id
  from identity.sessions as s
  join identity.users as u on u.id = s.user_id
  where s.public_id = fresh_session.session_id
    and u.public_id = fresh_session.user_id
    and s.created_at > core.now() - c_fresh_for
  for key share of s;
  if not found then
    perform core.raise_error('SIGN_IN_AGAIN');
  end if;
  return v_id;
end
$$;

comment on function identity.fresh_session(uuid, uuid) is
  'The key of a user''s session that began within the last 10 minutes. Errors: SIGN_IN_AGAIN, '
  'UNFIT_SESSION. Locks: the session, shared.';
