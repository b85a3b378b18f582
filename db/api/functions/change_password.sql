create or replace function api.change_password(
  user_id uuid,
  current_hash text,
  password_hash text,
  browser text default null,
  is_host_only boolean default false
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = change_password.user_id
  );
begin
  perform identity.lock_account(v_user_id);
  perform identity.check_not_frozen(v_user_id);
  if not identity.is_password(v_user_id, change_password.current_hash) then
    perform core.raise_error('WRONG_PASSWORD');
  end if;
  return identity.replace_password(
    v_user_id, change_password.password_hash, change_password.browser,
    change_password.is_host_only
  );
end
$$;

comment on function api.change_password(uuid, text, text, text, boolean) is
  'Changes a user''s password, if the current one is right, ends all sessions and opens another, '
  'whose cookie it returns. Errors: ACCOUNT_FROZEN, WRONG_PASSWORD. Locks: the account, the row '
  'of the password, the rows of the sessions.';
