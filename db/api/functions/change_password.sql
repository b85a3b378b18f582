create or replace function api.change_password(
  user_id uuid,
  session_id uuid,
  current_hash text,
  password_hash text,
  browser text default null,
  is_host_only boolean default false,
  address inet default null
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    change_password.user_id, change_password.session_id
  );
begin
  perform identity.check_not_frozen(v_user_id);
  if not identity.is_password(v_user_id, change_password.current_hash) then
    perform core.raise_error('WRONG_PASSWORD');
  end if;
  return identity.replace_password(
    v_user_id, change_password.password_hash, change_password.browser,
    change_password.is_host_only, change_password.address
  );
end
$$;

comment on function api.change_password(uuid, uuid, text, text, text, boolean, inet) is
  'Changes a user''s password, if the current one is right, ends all sessions and opens another, '
  'whose cookie it returns. Browsers that were known are not any more. Errors: UNAUTHORIZED, '
  'ACCOUNT_FROZEN, WRONG_PASSWORD, UNFIT_SESSION. Locks: the account, the row of the password, '
  'the rows of the sessions.';
