create or replace function api.start_passkey_sign_in()
returns bytea
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.new_challenge(null)
$$;

comment on function api.start_passkey_sign_in() is
  'A challenge for api.sign_in_by_passkey, good once, for 5 minutes. It belongs to no user: the '
  'passkey that signs it says whose it is.';
