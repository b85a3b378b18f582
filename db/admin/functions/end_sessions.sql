create or replace function admin.end_sessions(user_id uuid, cookie text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Made before the statement that reads it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(end_sessions.cookie, 'UTF8'));
  v_user_id constant bigint := identity.user_id(end_sessions.user_id);
  v_ended bigint;
begin
  perform admin.check_role('end_sessions');
  v_ended := identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = v_user_id
      and (
        v_cookie_hash is null
        or s.cookie_hash = v_cookie_hash
      )
  ));
  perform admin.audit('end_sessions', jsonb_build_object(
    'user_id', end_sessions.user_id,
    'all', end_sessions.cookie is null,
    'ended', v_ended
  ));
  return v_ended;
end
$$;

comment on function admin.end_sessions(uuid, text) is
  'Logs out: the browser with this cookie, or, without one, all browsers of the user. Returns how '
  'many sessions ended, expired ones included. Errors: NOT_FOUND. Locks: the rows of the sessions.';
