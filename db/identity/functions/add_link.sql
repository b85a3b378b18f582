create or replace function identity.add_link(
  token_hash bytea, kind text, user_id bigint, email text, valid_for interval,
  staff_id bigint default null
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.links (token_hash, kind, user_id, staff_id, email, created_at, expires_at)
  values (
    add_link.token_hash, add_link.kind, add_link.user_id, add_link.staff_id, add_link.email,
    core.now(), core.now() + add_link.valid_for
  )
$$;

comment on function identity.add_link(bytea, text, bigint, text, interval, bigint) is
  'Keeps a link by the SHA-256 of its token. The caller has locked the account of the user, if it '
  'is one of a user.';
