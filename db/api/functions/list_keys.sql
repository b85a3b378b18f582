create or replace function api.list_keys(user_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object('data', coalesce(
      json_agg(
        json_build_object(
          'id', k.public_id,
          'name', k.name,
          'scopes', k.scopes,
          'createdAt', core.iso8601(k.created_at),
          'expiresAt', core.iso8601(k.expires_at),
          -- As inet, an address is written without its length.
          'allowedAddresses', k.allowed_addresses::inet[],
          'lastUsedAt', core.iso8601(k.last_used_at),
          'lastUsedAddress', host(k.last_used_address),
          'replacedBy', n.public_id
        )
        order by k.id desc
      ),
      '[]'
    ))
    from identity.api_keys as k
    join identity.users as u on u.id = k.user_id
    left join identity.api_keys as n on n.replaces = k.id
    where u.public_id = list_keys.user_id
      and identity.is_key_in_force(k)
  );
end
$$;

comment on function api.list_keys(uuid) is
  'The body of GET /api/account/keys: a user''s API keys in force, newest first.';
