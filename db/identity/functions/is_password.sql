create or replace function identity.is_password(user_id bigint, password_hash text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- Hashes are compared, so the time taken says nothing about the digest.
  select coalesce(
    sha256(convert_to(coalesce(
      (
        select p.password_hash
        from identity.passwords as p
        where p.user_id = is_password.user_id
      ),
      ''
    ), 'UTF8')) = sha256(convert_to(is_password.password_hash, 'UTF8')),
    false
  ) and is_password.password_hash <> ''
$$;

comment on function identity.is_password(bigint, text) is
  'Whether a user has the password with this argon2id hash, in PHC form.';
