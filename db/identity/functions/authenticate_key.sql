create or replace function identity.authenticate_key(key_hash bytea, address inet)
returns table (user_id uuid, api_key_id uuid, scopes text[], valid_for_ms int)
language sql stable
begin atomic
  select
    u.public_id,
    k.public_id,
    k.scopes,
    floor(least(5000, extract(epoch from k.expires_at - core.now()) * 1000))::int
  from identity.api_keys as k
  join identity.users as u on u.id = k.user_id
  where k.key_hash = authenticate_key.key_hash
    and identity.is_key_in_force(k)
    and (
      k.allowed_addresses is null
      or identity.plain_address(authenticate_key.address) <<= any (k.allowed_addresses)
    );
end;

comment on function identity.authenticate_key(bytea, inet) is
  'The user of the API key with this SHA-256, the scopes of the key, and for how many milliseconds '
  'a server may remember this answer for this address: 5000 at most, and not after the key '
  'expires. One row, or none if the key is unknown, revoked or expired, or if the address is not '
  'among those that it allows.';
