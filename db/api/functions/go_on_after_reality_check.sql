create or replace function api.go_on_after_reality_check(user_id uuid, session_id uuid)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform identity.lock_session(
    go_on_after_reality_check.user_id, go_on_after_reality_check.session_id
  );
  update identity.sessions as s
  set reminded_at = core.now()
  where s.public_id = go_on_after_reality_check.session_id;
  return api.get_reality_check(
    go_on_after_reality_check.user_id, go_on_after_reality_check.session_id
  );
end
$$;

comment on function api.go_on_after_reality_check(uuid, uuid) is
  'Notes that the user of a session has seen the reality check: the time to the next one begins '
  'now. Returns the body of GET /api/account/reality-check. Errors: UNAUTHORIZED, UNFIT_SESSION. '
  'Locks: the account; the session.';
