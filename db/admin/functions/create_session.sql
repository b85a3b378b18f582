create or replace function admin.create_session(
  user_id uuid, valid_for interval default '30 days', is_host_only boolean default false
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cookie text := identity.new_api_key(
    case when create_session.is_host_only then 'jh_' else 'js_' end
  );
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(v_cookie, 'UTF8'));
  v_at timestamptz := core.now();
  v_utc timestamp := v_at at time zone 'UTC';
  v_user_id constant bigint := identity.user_id(create_session.user_id);
  v_session_id uuid;
begin
  perform admin.check_approval('create_session');
  if create_session.valid_for is null
    or create_session.valid_for > interval '100 years'
    or v_utc + create_session.valid_for <= v_utc
  then
    perform core.raise_error(
      'INVALID_REQUEST', 'A session must be valid for longer than zero, and 100 years at most'
    );
  end if;

  perform identity.lock_account_to_change(v_user_id);
  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = v_user_id and s.expires_at <= v_at
  ));
  insert into identity.sessions (user_id, cookie_hash, created_at, expires_at)
  values (
    v_user_id, v_cookie_hash, v_at, (v_utc + create_session.valid_for) at time zone 'UTC'
  )
  returning public_id into v_session_id;

  perform admin.audit('create_session', jsonb_build_object(
    'user_id', create_session.user_id,
    'valid_for', create_session.valid_for,
    'session_id', v_session_id
  ));
  perform admin.report_to_user(
    'new_sign_in', v_user_id, json_build_object('browser', 'none', 'bySupport', true)
  );
  return v_cookie;
end
$$;

comment on function admin.create_session(uuid, interval, boolean) is
  'Logs a browser in: makes a session and returns the value of its cookie, which is not kept and '
  'can never be shown again. is_host_only: of __Host-pgmarkets_session, which a site under https '
  'has; otherwise of pgmarkets_session. Expired sessions of the user are removed. A mail reports '
  'one that a member of staff makes. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, '
  'INVALID_STATE (erased), UNFIT_SESSION. Locks: the account, the rows of those.';
