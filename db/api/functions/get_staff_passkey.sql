create or replace function api.get_staff_passkey(credential_id bytea)
returns table (public_key bytea)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.public_key
  from identity.staff_passkeys as p
  where p.credential_id = get_staff_passkey.credential_id
$$;

comment on function api.get_staff_passkey(bytea) is
  'The public key, in COSE form, of the passkey of staff with exactly this id: one row, or none if '
  'it is unknown.';
