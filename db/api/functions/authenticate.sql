create or replace function api.authenticate(key_hash bytea)
returns table (user_id uuid, api_key_id uuid)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select u.public_id, k.public_id
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.key_hash = authenticate.key_hash
    and k.revoked_at is null
$$;

comment on function api.authenticate(bytea) is
  'The user of the API key with this SHA-256: one row, or none if it is unknown or revoked.';
