create or replace function identity.authenticate_staff_session(cookie_hash bytea)
returns table (staff_id uuid, session_id uuid, name text, email text, roles text[])
language sql stable
begin atomic
  select m.public_id, s.public_id, m.name, m.email, m.roles
  from identity.staff_sessions as s
  join identity.staff as m on m.id = s.staff_id
  where s.cookie_hash = sha256(authenticate_staff_session.cookie_hash)
    and s.expires_at > core.now()
    and m.removed_at is null;
end;

comment on function identity.authenticate_staff_session(bytea) is
  'The member of staff whose session has the cookie with this SHA-256: one row, or none if the '
  'session is unknown, expired or ended.';
