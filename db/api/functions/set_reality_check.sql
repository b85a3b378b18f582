create or replace function api.set_reality_check(
  user_id uuid, session_id uuid, every_minutes int default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    set_reality_check.user_id, set_reality_check.session_id
  );
  v_constraint text;
  v_column text;
begin
  update identity.users as u
  set reality_check_minutes = set_reality_check.every_minutes
  where u.id = v_user_id;
  update identity.sessions as s
  set reminded_at = core.now()
  where s.user_id = v_user_id;
  return json_build_object(
    'everyMinutes', set_reality_check.every_minutes,
    'dueInMs', 60000 * set_reality_check.every_minutes
  );
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.set_reality_check(uuid, uuid, int) is
  'Sets after how many minutes on the website a user is reminded of them: 15, 30, 60 or 120, null '
  'for never. The time begins now in all sessions. Returns what is set, and when the next reminder '
  'is due. Errors: UNAUTHORIZED, INVALID_REQUEST, UNFIT_SESSION. Locks: the account; the sessions '
  'of the user.';
