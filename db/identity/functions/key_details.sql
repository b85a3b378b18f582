create or replace function identity.key_details(key identity.api_keys)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'name', (key).name,
    'scopes', (key).scopes,
    'expiresAt', core.iso8601((key).expires_at),
    -- As inet, an address is written without its length.
    'allowedAddresses', (key).allowed_addresses::inet[],
    'rotated', (key).replaces is not null
  )
$$;

comment on function identity.key_details(identity.api_keys) is
  'What a mail says of a new API key: its name and its powers.';
