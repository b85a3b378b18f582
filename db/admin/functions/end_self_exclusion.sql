create or replace function admin.end_self_exclusion(user_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_approval('end_self_exclusion');
  perform core.check_reason(end_self_exclusion.reason);
  perform identity.lock_user(end_self_exclusion.user_id);
  update trading.traders as t
  set excluded_until = null
  where t.public_id = end_self_exclusion.user_id
    and t.excluded_until > core.now();
  if not found then
    perform core.raise_error('INVALID_STATE', 'The user is not self-excluded');
  end if;
  perform admin.audit('end_self_exclusion', jsonb_build_object(
    'user_id', end_self_exclusion.user_id,
    'reason', end_self_exclusion.reason
  ));
end
$$;

comment on function admin.end_self_exclusion(uuid, text) is
  'Ends a self-exclusion that was set by mistake; orders that it cancelled stay cancelled. Always '
  'needs approval. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, INVALID_STATE, '
  'UNFIT_SESSION. Locks: the user.';
