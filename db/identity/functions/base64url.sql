create or replace function identity.base64url(bytes bytea)
returns text
language sql immutable parallel safe
return rtrim(translate(encode(bytes, 'base64'), '+/' || chr(10), '-_'), '=');

comment on function identity.base64url(bytea) is
  'Bytes in base64url without padding, as WebAuthn writes them in JSON.';
