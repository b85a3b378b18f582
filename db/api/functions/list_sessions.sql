create or replace function api.list_sessions(user_id uuid, session_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', s.public_id,
        'browser', s.browser,
        'createdAt', core.iso8601(s.created_at),
        'lastSeenAt', core.iso8601(s.last_seen_at),
        'expiresAt', core.iso8601(s.expires_at),
        'current', s.public_id = list_sessions.session_id
      )
      order by s.id desc
    ),
    '[]'
  ))
  from identity.sessions as s
  join identity.users as u on u.id = s.user_id
  where u.public_id = list_sessions.user_id
    and s.expires_at > core.now()
$$;

comment on function api.list_sessions(uuid, uuid) is
  'The body of GET /api/account/sessions: a user''s sessions, newest first; session_id is the one '
  'that asks.';
