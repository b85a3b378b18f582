create or replace function api.list_keys(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', k.public_id,
        'name', k.name,
        'createdAt', core.iso8601(k.created_at),
        'lastUsedAt', core.iso8601(k.last_used_at)
      )
      order by k.id desc
    ),
    '[]'
  ))
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where u.public_id = list_keys.user_id
    and k.revoked_at is null
$$;

comment on function api.list_keys(uuid) is
  'The body of GET /api/account/keys: a user''s API keys in force, newest first.';
