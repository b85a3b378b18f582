create or replace function api.end_session(user_id uuid, session_id uuid)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    join identity.users as u on u.id = s.user_id
    where s.public_id = end_session.session_id
      and u.public_id = end_session.user_id
  ))
$$;

comment on function api.end_session(uuid, uuid) is
  'Ends a session of a user; servers hear of it by session_ended. Returns how many ended: 0 when '
  'the user has no such session. Locks: its row.';
