create or replace function identity.staff_of_fresh_session(session_id uuid)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.staff_id
  from identity.staff_sessions as s
  where s.public_id = staff_of_fresh_session.session_id
    and s.created_at > core.now() - interval '10 minutes'
$$;

comment on function identity.staff_of_fresh_session(uuid) is
  'The member of staff whose session this is, if it has begun within the last 10 minutes, in which '
  'passkeys are changed. Null otherwise.';
