create or replace function api.reset_password(
  token_hash bytea,
  password_hash text,
  browser text default null,
  is_host_only boolean default false,
  out user_id uuid,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links := identity.take_link('password_reset', reset_password.token_hash);
begin
  select u.public_id into strict user_id
  from identity.users as u
  where u.id = v_link.user_id;
  cookie := identity.replace_password(
    v_link.user_id, reset_password.password_hash, reset_password.browser,
    reset_password.is_host_only
  );
end
$$;

comment on function api.reset_password(bytea, text, text, boolean) is
  'Sets the password of the user of a link, ends all sessions and opens another, whose cookie it '
  'returns. Errors: INVALID_LINK. Locks: the account, the link, the row of the password, the rows '
  'of the sessions.';
