create or replace function risk.set_limits(
  user_id uuid, day_cents bigint, week_cents bigint, month_cents bigint, immediate boolean
)
returns bigint
language plpgsql
as $$
declare
  v_user_id bigint := identity.lock_user(set_limits.user_id);
  v_at timestamptz := core.now();
  v_trader trading.traders;
  v_day record;
  v_week record;
  v_month record;
begin
  if least(set_limits.day_cents, set_limits.week_cents, set_limits.month_cents) < 0 then
    perform core.raise_error('INVALID_REQUEST', 'A loss limit must not be below 0');
  end if;

  select t.* into strict v_trader
  from trading.traders as t
  where t.user_id = v_user_id;
  v_day := risk.change_limit(
    v_trader.day_limit_cents, v_trader.next_day_limit_cents, v_trader.day_limit_changes_at,
    set_limits.day_cents, set_limits.immediate, v_at
  );
  v_week := risk.change_limit(
    v_trader.week_limit_cents, v_trader.next_week_limit_cents, v_trader.week_limit_changes_at,
    set_limits.week_cents, set_limits.immediate, v_at
  );
  v_month := risk.change_limit(
    v_trader.month_limit_cents, v_trader.next_month_limit_cents, v_trader.month_limit_changes_at,
    set_limits.month_cents, set_limits.immediate, v_at
  );
  update trading.traders as t set
    limits_reviewed_at = coalesce(t.limits_reviewed_at, v_at),
    day_limit_cents = v_day.limit_cents,
    next_day_limit_cents = v_day.next_limit_cents,
    day_limit_changes_at = v_day.changes_at,
    week_limit_cents = v_week.limit_cents,
    next_week_limit_cents = v_week.next_limit_cents,
    week_limit_changes_at = v_week.changes_at,
    month_limit_cents = v_month.limit_cents,
    next_month_limit_cents = v_month.next_limit_cents,
    month_limit_changes_at = v_month.changes_at
  where t.user_id = v_user_id;
  insert into risk.limit_changes (
    user_id, created_at, day_limit_cents, next_day_limit_cents, day_limit_changes_at,
    week_limit_cents, next_week_limit_cents, week_limit_changes_at,
    month_limit_cents, next_month_limit_cents, month_limit_changes_at
  )
  values (
    v_user_id, v_at, v_day.limit_cents, v_day.next_limit_cents, v_day.changes_at,
    v_week.limit_cents, v_week.next_limit_cents, v_week.changes_at,
    v_month.limit_cents, v_month.next_limit_cents, v_month.changes_at
  );
  return v_user_id;
end
$$;

comment on function risk.set_limits(uuid, bigint, bigint, bigint, boolean) is
  'Sets a user''s loss limits, null for none, and marks them as reviewed. Lowering holds at once, '
  'raising and removing after 24 hours, unless immediate. Returns the key of the user. Errors: '
  'INVALID_REQUEST, NOT_FOUND, UNFIT_SESSION. Locks: the user.';
