create or replace function identity.open_staff_session(
  staff_id bigint, browser text, ended_cookie_hash bytea, address inet
)
returns text
language plpgsql volatile
as $$
declare
  c_valid_for constant interval := '12 hours';
  c_most constant int := 10;
  v_cookie text := identity.new_api_key('jf_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_cookie_hash bytea := sha256(sha256(convert_to(v_cookie, 'UTF8')));
  v_at timestamptz := core.now();
begin
  delete from identity.staff_sessions as s
  where s.cookie_hash = sha256(open_staff_session.ended_cookie_hash)
    or s.staff_id = open_staff_session.staff_id
      and (s.expires_at <= v_at or s.id in (
        select x.id
        from identity.staff_sessions as x
        where x.staff_id = open_staff_session.staff_id
        order by x.id desc
        offset c_most - 1
      ));
  insert into identity.staff_sessions (
    staff_id, cookie_hash, created_at, expires_at, browser, last_address
  )
  values (
    open_staff_session.staff_id, v_cookie_hash, v_at, v_at + c_valid_for,
    left(open_staff_session.browser, 300), identity.plain_address(open_staff_session.address)
  );
  return v_cookie;
end
$$;

comment on function identity.open_staff_session(bigint, text, bytea, inet) is
  'Makes a session of 12 hours for a member of staff and returns its cookie, which is not kept. '
  'Ends the session that the browser had before, expired ones of the member, and the oldest beyond '
  '10. The caller has locked the member. Locks: their rows.';
