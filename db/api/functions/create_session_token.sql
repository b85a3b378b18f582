create or replace function api.create_session_token(session_id uuid, address inet default null)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_valid_for constant interval := '5 minutes';
  c_break constant interval := '30 minutes';
  v_token text := identity.new_api_key('jt_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_token_hash bytea := sha256(convert_to(v_token, 'UTF8'));
  v_at timestamptz := core.now();
  v_address constant inet := identity.plain_address(create_session_token.address);
  v_session identity.sessions;
  v_expires_at timestamptz;
begin
  -- Locked, so that the session still exists when the token refers to it.
  select s.* into v_session
  from identity.sessions as s
  where s.public_id = create_session_token.session_id and s.expires_at > v_at
  for key share;
  if not found then
    return null;
  end if;

  update identity.sessions as s
  set
    last_seen_at = v_at,
    last_address = v_address,
    visit_started_at = case when s.last_seen_at >= v_at - c_break then s.visit_started_at
      else v_at end
  where s.id = v_session.id
    and (
      s.last_seen_at is null
      or s.last_seen_at < v_at - interval '1 minute'
      or s.last_address is distinct from v_address
    );

  delete from identity.session_tokens as t
  where t.session_id = v_session.id and t.expires_at <= v_at;
  v_expires_at := least(v_at + c_valid_for, v_session.expires_at);
  insert into identity.session_tokens (token_hash, session_id, expires_at)
  values (v_token_hash, v_session.id, v_expires_at);
  return json_build_object('token', v_token, 'expiresAt', core.iso8601(v_expires_at));
end
$$;

comment on function api.create_session_token(uuid, inet) is
  'The body of GET /api/auth/token: a new token of the session, good for five minutes and no '
  'longer than the session; null when the session is gone. Expired tokens of the session are '
  'removed, and the session was seen now, at this address: a new visit begins if that was more '
  'than 30 minutes ago. Locks: the session, shared; its row once a minute, and when the address '
  'changes.';
