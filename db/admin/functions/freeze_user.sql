create or replace function admin.freeze_user(
  user_id uuid, reason text, cancel_orders boolean default true
)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_market_ids bigint[] := '{}';
  v_at timestamptz;
  v_cancelled int;
begin
  if freeze_user.reason is null or freeze_user.reason !~ '[^[:space:]]' then
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;
  if freeze_user.cancel_orders is null then
    perform core.raise_error('INVALID_REQUEST', 'The argument cancel_orders must be true or false');
  end if;

  if freeze_user.cancel_orders then
    v_market_ids := trading.lock_user_with_markets(freeze_user.user_id);
  end if;
  v_user_id := identity.lock_user(freeze_user.user_id);
  v_at := core.now();
  update trading.traders as t set
    frozen_at = coalesce(t.frozen_at, v_at),
    -- The login is certain; the name of a key is what the login says.
    frozen_by = session_user || coalesce(
      ' (' || nullif(current_setting('exchange.operator', true), '') || ')', ''
    ),
    frozen_reason = freeze_user.reason
  where t.user_id = v_user_id;
  v_cancelled := trading.clear_orders_of_user(v_user_id, v_market_ids, 'trading_paused', v_at);

  perform admin.audit('freeze_user', jsonb_build_object(
    'user_id', freeze_user.user_id,
    'reason', freeze_user.reason,
    'cancel_orders', freeze_user.cancel_orders,
    'cancelled', v_cancelled
  ));
  return v_cancelled;
end
$$;

comment on function admin.freeze_user(uuid, text, boolean) is
  'Stops an account until admin.unfreeze_user: orders, amendments, splits and withdrawals are '
  'rejected (ACCOUNT_FROZEN); cancelling, merging, reading and deposits are not. Cancels the open '
  'orders (trading_paused) and returns how many; with cancel_orders => false they stay and may '
  'still match, and scheduled ones end at their release. Freezing a frozen account keeps its time '
  'and changes its reason. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the markets of those orders '
  'in ascending id, then the user.';
