create or replace function api.end_other_sessions(user_id uuid, session_id uuid)
returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    join identity.users as u on u.id = s.user_id
    where u.public_id = end_other_sessions.user_id
      and s.public_id <> end_other_sessions.session_id
  ))
$$;

comment on function api.end_other_sessions(uuid, uuid) is
  'Ends all sessions of a user but this one; servers hear of it by session_ended. Returns how many '
  'ended. Locks: their rows.';
