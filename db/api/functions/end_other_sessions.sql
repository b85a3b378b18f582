create or replace function api.end_other_sessions(user_id uuid, session_id uuid)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    end_other_sessions.user_id, end_other_sessions.session_id
  );
begin
  return identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = v_user_id
      and s.public_id <> end_other_sessions.session_id
  ));
end
$$;

comment on function api.end_other_sessions(uuid, uuid) is
  'Ends all sessions of a user but this one; servers hear of it by session_ended. Returns how many '
  'ended. Errors: UNAUTHORIZED, UNFIT_SESSION. Locks: the account; the session, shared; their '
  'rows.';
