create or replace function admin.unfreeze_user(user_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_ended bigint;
begin
  perform admin.check_approval('unfreeze_user');
  if core.is_blank(coalesce(unfreeze_user.reason, '')) then
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;

  perform identity.lock_account_to_change(identity.user_id(unfreeze_user.user_id));
  v_user_id := identity.lock_user(unfreeze_user.user_id);
  -- Who knew the password could sign in meanwhile: that gives nothing afterwards. In a frozen
  -- account only the link of a recovery sets a password: who signed in by that is the owner.
  v_ended := identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    join trading.traders as t on t.user_id = s.user_id
    where s.user_id = v_user_id
      and s.created_at >= t.frozen_at
      and not exists (
        select
        from identity.passwords as p
        where p.user_id = s.user_id
          and p.changed_at between t.frozen_at and s.created_at
      )
  ));
  update trading.traders as t set
    frozen_at = null,
    frozen_by = null,
    frozen_reason = null
  where t.user_id = v_user_id;
  perform admin.audit('unfreeze_user', jsonb_build_object(
    'user_id', unfreeze_user.user_id,
    'reason', unfreeze_user.reason,
    'ended_sessions', v_ended
  ));
end
$$;

comment on function admin.unfreeze_user(uuid, text) is
  'Ends what admin.freeze_user began; orders that it cancelled stay cancelled. Sessions that '
  'began meanwhile end, except by the password that a recovery set meanwhile. An account that is '
  'not frozen stays as it is. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, '
  'INVALID_STATE (erased). Locks: the account, the user, the rows of the sessions.';
