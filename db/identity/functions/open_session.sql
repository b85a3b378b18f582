create or replace function identity.open_session(
  user_id bigint, browser text, is_host_only boolean, ended_cookie_hash bytea, address inet
)
returns text
language plpgsql volatile
as $$
declare
  c_valid_for constant interval := '720 hours';
  c_most constant int := 50;
  -- The prefix says which of the two cookies has it: under https, browsers keep __Host- cookies
  -- from subdomains.
  v_cookie text := identity.new_api_key(case when is_host_only then 'jh_' else 'js_' end);
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(convert_to(v_cookie, 'UTF8'));
  v_at timestamptz := core.now();
begin
  perform core.check_session();
  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.cookie_hash = open_session.ended_cookie_hash
    union
    select s.id
    from identity.sessions as s
    where s.user_id = open_session.user_id and s.expires_at <= v_at
    union
    (
      select s.id
      from identity.sessions as s
      where s.user_id = open_session.user_id
      order by s.id desc
      offset c_most - 1
    )
  ));
  insert into identity.sessions (
    user_id, cookie_hash, created_at, expires_at, browser, last_seen_at, last_address,
    visit_started_at
  )
  values (
    open_session.user_id, v_cookie_hash, v_at, v_at + c_valid_for,
    left(open_session.browser, 300), v_at,
    identity.plain_address(open_session.address), v_at
  );
  return v_cookie;
end
$$;

comment on function identity.open_session(bigint, text, boolean, bytea, inet) is
  'Makes a session of 30 days and returns its cookie, which is not kept. Ends the session that the '
  'browser had before, expired ones of the user, and the oldest beyond 50. Errors: '
  'UNFIT_SESSION. Locks: their rows.';
