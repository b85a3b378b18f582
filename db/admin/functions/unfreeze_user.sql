create or replace function admin.unfreeze_user(user_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
begin
  if unfreeze_user.reason is null or unfreeze_user.reason !~ '[^[:space:]]' then
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;

  perform identity.lock_account(identity.user_id(unfreeze_user.user_id));
  v_user_id := identity.lock_user(unfreeze_user.user_id);
  update trading.traders as t set
    frozen_at = null,
    frozen_by = null,
    frozen_reason = null
  where t.user_id = v_user_id;
  perform admin.audit('unfreeze_user', jsonb_build_object(
    'user_id', unfreeze_user.user_id,
    'reason', unfreeze_user.reason
  ));
end
$$;

comment on function admin.unfreeze_user(uuid, text) is
  'Ends what admin.freeze_user began; orders that it cancelled stay cancelled. An account that is '
  'not frozen stays as it is. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the account, the user.';
