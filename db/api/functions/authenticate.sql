create or replace function api.authenticate(key_hash bytea)
returns table (user_id uuid, api_key_id uuid)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select a.user_id, a.api_key_id
  from api.authenticate_key(key_hash => authenticate.key_hash) as a
  where a.scopes = '{read,trade}' -- mutant: old_servers_get_every_key
    and a.valid_for_ms = 5000 -- mutant: old_servers_outlive_an_expiry
$$;

comment on function api.authenticate(bytea) is
  'For servers of version 0.2.0: the user of the API key with this SHA-256. They know neither '
  'scopes nor addresses, and remember each answer for 5 s. One row, or none if the key is '
  'unknown, revoked, expired or about to expire, or if it has less power than all.';
