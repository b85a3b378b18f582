create or replace function identity.set_password(user_id bigint, password_hash text)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.passwords as p (user_id, password_hash, changed_at)
  values (set_password.user_id, set_password.password_hash, core.now())
  on conflict on constraint passwords_pkey do update
  set password_hash = excluded.password_hash, changed_at = excluded.changed_at
$$;

comment on function identity.set_password(bigint, text) is
  'Sets a user''s password, by its argon2id hash in PHC form. Locks: the row of the password.';
