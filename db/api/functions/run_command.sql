create or replace function api.run_command(
  command text,
  user_id uuid,
  order_id uuid default null,
  market_id uuid default null,
  price int default null,
  quantity int default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  most_makers int default null,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out market_version bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  c_is_keyed constant boolean := run_command.idempotency_key is not null;
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = run_command.user_id
  );
  v_order_id bigint;
  v_market_id bigint;
  v_result core.result;
begin
  if run_command.order_id is not null then
    select o.id, o.market_id into v_order_id, v_market_id
    from trading.find_order(run_command.user_id, run_command.order_id) as o;
  else
    select m.id into v_market_id
    from catalog.markets as m
    where m.public_id = run_command.market_id;
  end if;

  -- A replay waits for no lock. Under the lock of the market an identical request is over.
  if c_is_keyed then
    v_result := trading.find_reply(
      v_user_id, run_command.idempotency_key, run_command.request_fingerprint
    );
  end if;
  if v_result.replayed is null then
    perform trading.lock_market(v_market_id);
    if c_is_keyed then
      v_result := trading.find_reply(
        v_user_id, run_command.idempotency_key, run_command.request_fingerprint
      );
    end if;
  end if;

  if v_result.replayed is null then
    v_result := case run_command.command
      when 'cancel' then
        trading.cancel_order(v_order_id, run_command.user_id, run_command.order_id)
      when 'amend' then trading.amend_order(
        v_user_id, run_command.user_id, run_command.order_id, run_command.price,
        run_command.quantity, run_command.most_makers
      )
      when 'split' then trading.split_position(v_user_id, v_market_id, run_command.quantity)
      when 'merge' then trading.merge_position(v_user_id, v_market_id, run_command.quantity)
      else ('INVALID_REQUEST', 'No such command', false, null)::core.result
    end;
    if c_is_keyed and v_result.code is null then
      perform trading.lock_traders(array[v_user_id]);
      perform trading.keep_reply(
        v_user_id, run_command.idempotency_key, run_command.request_fingerprint, v_result.body
      );
    end if;
  end if;

  code := v_result.code;
  message := v_result.message;
  replayed := v_result.replayed;
  body := v_result.body;
  market_version := (
    select s.version from trading.market_state as s where s.market_id = v_market_id
  );
end
$$;

comment on function api.run_command(text, uuid, uuid, uuid, int, int, uuid, uuid, int) is
  'Carries out a command other than an order. cancel: ends an open order (order_id) at once. '
  'amend: gives an open order (order_id) a new price (1-99), a new total quantity (1-10000), or '
  'both. split: makes complete sets of YES and NO (market_id, quantity) out of 100 cents each; '
  'merge turns them back. With an idempotency key the answer is kept in the same transaction, and '
  'the same request gets it again for 24 hours; another request with the key is rejected with '
  'IDEMPOTENCY_KEY_REUSED. A rejection keeps nothing, so its key can be used again. '
  'market_version is that of the market after the command, null if there is no such order or '
  'market. Rejections of cancel: ORDER_NOT_FOUND, ORDER_NOT_CANCELLABLE. Of amend: '
  'INVALID_REQUEST, ORDER_NOT_FOUND, ORDER_NOT_AMENDABLE, BELOW_FILLED, '
  'BUDGET_ORDER_NOT_AMENDABLE and those of an order; they change nothing, except that an order '
  'past its expiry expires, and that CONFLICT_RETRY cancels makers: call it again. '
  'It is also rejected with AGAIN, if the new order could meet more than most_makers: the body '
  'is then the id of its market; call it without. Of split, in '
  'order of precedence: INVALID_REQUEST, TRADING_PAUSED, UNAUTHORIZED, SELF_EXCLUDED, '
  'ACCOUNT_FROZEN, LIMITS_SETUP_REQUIRED, MARKET_NOT_FOUND, MARKET_NOT_OPEN, '
  'INSUFFICIENT_BALANCE, LOSS_LIMIT. Of merge, in order of precedence: INVALID_REQUEST, '
  'UNAUTHORIZED, MARKET_NOT_FOUND, MARKET_NOT_OPEN (resolved), INSUFFICIENT_BALANCE. May fail '
  'with 40001, 40P01 or 55P03: call it again. Locks: the market; then the user, but for a cancel '
  'without a key; of an amendment also the makers that a new order can reach.';
