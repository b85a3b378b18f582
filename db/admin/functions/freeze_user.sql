create or replace function admin.freeze_user(
  user_id uuid,
  reason text,
  cancel_orders boolean default true,
  keep_sessions boolean default false
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
  v_ended bigint := 0;
begin
  perform admin.check_role('freeze_user');
  if core.is_blank(coalesce(freeze_user.reason, '')) then
    perform core.raise_error('INVALID_REQUEST', 'A reason is required');
  end if;
  if freeze_user.cancel_orders is null or freeze_user.keep_sessions is null then
    perform core.raise_error(
      'INVALID_REQUEST', 'The arguments cancel_orders and keep_sessions must be true or false'
    );
  end if;

  -- Before the markets: what changes the account has committed, or finds it frozen.
  perform identity.lock_account_to_change(identity.user_id(freeze_user.user_id));

  if freeze_user.cancel_orders then
    v_market_ids := trading.lock_user_with_markets(freeze_user.user_id);
  end if;
  v_user_id := identity.lock_user(freeze_user.user_id);
  v_at := core.now();
  update trading.traders as t set
    frozen_at = coalesce(t.frozen_at, v_at),
    frozen_by = (
      select coalesce(a.name, a.login) || coalesce(' (' || a.staff_key || ')', '')
      from identity.acting() as a
    ),
    frozen_reason = freeze_user.reason
  where t.user_id = v_user_id;
  v_cancelled := case
    when freeze_user.cancel_orders
      then trading.stop_user_orders(v_user_id, v_market_ids, 'trading_paused', v_at)
    else 0
  end;
  if not freeze_user.keep_sessions then
    v_ended := identity.end_sessions(array(
      select s.id
      from identity.sessions as s
      where s.user_id = v_user_id
    ));
  end if;

  perform admin.audit('freeze_user', jsonb_build_object(
    'user_id', freeze_user.user_id,
    'reason', freeze_user.reason,
    'cancel_orders', freeze_user.cancel_orders,
    'cancelled', v_cancelled,
    'keep_sessions', freeze_user.keep_sessions,
    'ended_sessions', v_ended
  ));
  return v_cancelled;
end
$$;

comment on function admin.freeze_user(uuid, text, boolean, boolean) is
  'Stops an account until admin.unfreeze_user: orders, amendments, splits, withdrawals, and '
  'changes of profile, address, password, passkeys, higher limits and new keys are rejected '
  '(ACCOUNT_FROZEN); signing in, cancelling, merging, reading and deposits are not. Ends the '
  'open orders (trading_paused), as trading.stop_user_orders does, and returns how many; with '
  'cancel_orders => false they stay and may still match, and scheduled ones end at their release. '
  'Ends the sessions, unless keep_sessions. Freezing a frozen account keeps its time and changes '
  'its reason. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE (erased). Locks: the account; as '
  'trading.lock_user_with_markets; the rows of the sessions.';
