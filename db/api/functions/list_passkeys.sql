create or replace function api.list_passkeys(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', p.public_id,
        'name', p.name,
        'createdAt', core.iso8601(p.created_at),
        'lastUsedAt', core.iso8601(p.last_used_at)
      )
      order by p.id desc
    ),
    '[]'
  ))
  from identity.passkeys as p
  join identity.users as u on u.id = p.user_id
  where u.public_id = list_passkeys.user_id
$$;

comment on function api.list_passkeys(uuid) is
  'The body of GET /api/account/passkeys: a user''s passkeys, newest first.';
