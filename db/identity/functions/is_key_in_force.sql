create or replace function identity.is_key_in_force(key identity.api_keys)
returns boolean
language sql stable
return (key).revoked_at is null
  and ((key).expires_at is null or (key).expires_at > core.now());

comment on function identity.is_key_in_force(identity.api_keys) is
  'Whether an API key is neither revoked nor expired.';
