create or replace function admin.create_session(
  user_id uuid, valid_for interval default '30 days'
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cookie text := identity.new_api_key('js_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(v_cookie, 'UTF8'));
  v_at timestamptz := core.now();
  v_utc timestamp := v_at at time zone 'UTC';
  v_user_id constant bigint := identity.user_id(create_session.user_id);
  v_session_id uuid;
begin
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
  return v_cookie;
end
$$;

comment on function admin.create_session(uuid, interval) is
  'Logs a browser in: makes a session and returns the value of its cookie, pgmarkets_session, '
  'which is not kept and can never be shown again. Expired sessions of the user are removed. '
  'Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE (erased). Locks: the account, the rows of '
  'those.';
