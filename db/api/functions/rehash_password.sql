create or replace function api.rehash_password(
  user_id uuid, current_hash text, password_hash text
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.set_password(u.id, rehash_password.password_hash)
  from identity.users as u
  where u.public_id = rehash_password.user_id
    and identity.is_password(u.id, rehash_password.current_hash)
$$;

comment on function api.rehash_password(uuid, text, text) is
  'Keeps the same password by another hash, such as one with newer parameters, unless the password '
  'has changed meanwhile. Locks: the row of the password.';
