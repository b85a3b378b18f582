create or replace function api.go_on_after_reality_check(user_id uuid, session_id uuid)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    go_on_after_reality_check.user_id, go_on_after_reality_check.session_id
  );
begin
  update identity.sessions as s
  set reminded_at = core.now()
  where s.public_id = go_on_after_reality_check.session_id;
  return (
    select json_build_object(
      'everyMinutes', u.reality_check_minutes,
      'dueInMs', 60000 * u.reality_check_minutes
    )
    from identity.users as u
    where u.id = v_user_id
  );
end
$$;

comment on function api.go_on_after_reality_check(uuid, uuid) is
  'Notes that the user of a session has seen the reality check: the time to the next one begins '
  'now. Returns how often it comes, and when the next one is due. Errors: UNAUTHORIZED, '
  'UNFIT_SESSION. Locks: the account; the session.';
