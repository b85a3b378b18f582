create or replace function api.rehash_password(
  user_id uuid, current_hash text, password_hash text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = rehash_password.user_id
  );
begin
  perform identity.lock_account(v_user_id);
  if identity.is_password(v_user_id, rehash_password.current_hash) then
    -- It stays the same password, and as old.
    update identity.passwords as p
    set password_hash = rehash_password.password_hash
    where p.user_id = v_user_id;
  end if;
end
$$;

comment on function api.rehash_password(uuid, text, text) is
  'Keeps the same password by another hash, such as one with newer parameters, unless the password '
  'has changed meanwhile. Locks: the account, the row of the password.';
