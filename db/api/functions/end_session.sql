create or replace function api.end_session(user_id uuid, session_id uuid, ended_id uuid)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    end_session.user_id, end_session.session_id
  );
begin
  return identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.public_id = end_session.ended_id
      and s.user_id = v_user_id
  ));
end
$$;

comment on function api.end_session(uuid, uuid, uuid) is
  'Ends a session of a user, in this or another one; servers hear of it by session_ended. Returns '
  'how many ended: 0 when the user has no such session. Errors: UNAUTHORIZED, UNFIT_SESSION. '
  'Locks: the account; the session, shared; the row of the one that ends.';
