create or replace function api.authenticate(kinds text[], hashes bytea[], details text[])
returns setof json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
begin
  return query
    select case s.kind
      when 'key' then (
        select json_build_object(
          'userId', k.user_id, 'apiKeyId', k.api_key_id, 'scopes', k.scopes,
          'validForMs', k.valid_for_ms
        )
        from identity.authenticate_key(s.hash, s.detail::inet) as k
      )
      when 'token' then (
        select json_build_object('userId', t.user_id, 'sessionId', t.session_id)
        from identity.authenticate_session_token(s.hash) as t
      )
      when 'cookie' then (
        select json_build_object('userId', c.user_id, 'sessionId', c.session_id)
        from identity.authenticate_session(s.hash) as c
      )
      when 'staff' then (
        select json_build_object('staffKeyId', f.staff_key_id, 'name', f.name, 'role', f.role)
        from identity.authenticate_staff_key(s.hash) as f
      )
      when 'staff_cookie' then (
        select json_build_object(
          'staffId', m.staff_id, 'sessionId', m.session_id, 'name', m.name, 'email', m.email,
          'roles', m.roles
        )
        from identity.authenticate_staff_session(s.hash) as m
      )
    end
    from unnest(authenticate.kinds, authenticate.hashes, authenticate.details) with ordinality
      as s (kind, hash, detail, place)
    order by s.place;
end
$$;

comment on function api.authenticate(text[], bytea[], text[]) is
  'Who holds each of these secrets, which are given by kind and SHA-256, in their order; null for '
  'those that are unknown or no longer valid. Kinds: key (an API key; the detail is the address '
  'where it is used), token and cookie (of a session), staff (a staff key), staff_cookie (of a '
  'session of staff). Locks: the rows of staff keys whose use is recorded.';
