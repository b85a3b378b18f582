create or replace function admin.set_loss_limits(
  user_id uuid,
  day_cents bigint,
  week_cents bigint,
  month_cents bigint,
  immediate boolean default false
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits json;
begin
  perform admin.check_approval('set_loss_limits');
  perform risk.set_limits(
    set_loss_limits.user_id, set_loss_limits.day_cents, set_loss_limits.week_cents,
    set_loss_limits.month_cents, set_loss_limits.immediate
  );
  perform admin.audit('set_loss_limits', jsonb_build_object(
    'user_id', set_loss_limits.user_id,
    'day_cents', set_loss_limits.day_cents,
    'week_cents', set_loss_limits.week_cents,
    'month_cents', set_loss_limits.month_cents,
    'immediate', set_loss_limits.immediate
  ));
  select trading.limits_object(t, core.now()) into v_limits
  from trading.traders as t
  where t.public_id = set_loss_limits.user_id;
  perform admin.report_to_user(
    'limits_changed', identity.user_id(set_loss_limits.user_id), v_limits
  );
end
$$;

comment on function admin.set_loss_limits(uuid, bigint, bigint, bigint, boolean) is
  'Sets a user''s loss limits, null for none, and marks them as reviewed. Lowering holds at once, '
  'raising and removing after 24 hours, unless immediate. A mail reports what a member of staff '
  'sets. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, UNFIT_SESSION. Locks: the user.';
