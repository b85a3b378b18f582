create or replace function identity.authenticate_session(cookie_hash bytea)
returns table (user_id uuid, session_id uuid)
language sql stable
begin atomic
  select u.public_id, s.public_id
  from identity.sessions as s
  join identity.users as u on u.id = s.user_id
  where s.cookie_hash = authenticate_session.cookie_hash
    and s.expires_at > core.now();
end;

comment on function identity.authenticate_session(bytea) is
  'The user of the session whose cookie has this SHA-256: one row, or none if the session is '
  'unknown, expired or ended.';
