create or replace function identity.add_api_key(
  user_id bigint,
  name text,
  key_hash bytea,
  key_prefix text,
  scopes text[],
  expires_at timestamptz,
  allowed_addresses cidr[],
  replaces bigint default null
)
returns identity.api_keys
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.api_keys (
    user_id, name, key_hash, key_prefix, scopes, expires_at, allowed_addresses, replaces
  )
  values (
    add_api_key.user_id, add_api_key.name, add_api_key.key_hash, add_api_key.key_prefix,
    array(
      select s.scope from unnest(add_api_key.scopes) as s (scope) order by s.scope collate "C"
    ),
    add_api_key.expires_at, add_api_key.allowed_addresses, add_api_key.replaces
  )
  returning *
$$;

comment on function identity.add_api_key(
  bigint, text, bytea, text, text[], timestamptz, cidr[], bigint
) is
  'Adds an API key with this SHA-256 and beginning. The scopes may be in any order. Errors: those '
  'of the checks of identity.api_keys.';
