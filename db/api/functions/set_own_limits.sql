create or replace function api.set_own_limits(
  user_id uuid,
  session_id uuid,
  day_cents bigint default null,
  week_cents bigint default null,
  month_cents bigint default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    set_own_limits.user_id, set_own_limits.session_id
  );
  v_limits json;
begin
  perform risk.set_limits(
    set_own_limits.user_id, set_own_limits.day_cents, set_own_limits.week_cents,
    set_own_limits.month_cents, false
  );
  -- Lower limits protect, and hold at once; a raise would outlast the freeze.
  if exists (
    select
    from trading.traders as t
    where t.user_id = v_user_id
      and greatest(t.day_limit_changes_at, t.week_limit_changes_at, t.month_limit_changes_at)
        > core.now()
  ) then
    perform identity.check_not_frozen(v_user_id);
  end if;
  select trading.limits_object(t, core.now()) into v_limits
  from trading.traders as t
  where t.user_id = v_user_id;
  perform identity.notify_user('limits_changed', v_user_id, v_limits);
  return v_limits;
end
$$;

comment on function api.set_own_limits(uuid, uuid, bigint, bigint, bigint) is
  'Sets a user''s own loss limits, null for none, and marks them as reviewed; returns them. '
  'Lowering holds at once, raising and removing after 24 hours. A mail reports it. Errors: '
  'UNAUTHORIZED, INVALID_REQUEST, ACCOUNT_FROZEN (a limit would be raised), UNFIT_SESSION. Locks: '
  'the account; the session, shared; the user.';
