create or replace function api.convert_shares(
  user_id uuid,
  event_id uuid,
  quantity int,
  market_ids uuid[] default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null
)
returns core.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = convert_shares.user_id
  );
  v_event_id constant bigint := (
    select e.id from catalog.events as e where e.public_id = convert_shares.event_id
  );
  v_rejection core.result;
  v_result core.result;
begin
  -- A replay waits for no lock.
  v_result := trading.find_reply(
    v_user_id, convert_shares.idempotency_key, convert_shares.request_fingerprint
  );
  if v_result.replayed is null then
    -- The locks stop all trading of the event: only a call that would pass takes them, and is
    -- checked again under them.
    v_rejection := trading.convert_shares(
      v_user_id, v_event_id, convert_shares.market_ids, convert_shares.quantity,
      is_preview => true
    );
    if v_rejection.code is null then
      perform trading.lock_event_markets(v_event_id);
    end if;
    -- Under the lock of the event an identical request is over. What one took that was over before
    -- may be the reason of the rejection.
    v_result := trading.find_reply(
      v_user_id, convert_shares.idempotency_key, convert_shares.request_fingerprint
    );
  end if;
  if v_result.replayed is not null then
    return v_result;
  elsif v_rejection.code is not null then
    return v_rejection;
  end if;

  v_result := trading.convert_shares(
    v_user_id, v_event_id, convert_shares.market_ids, convert_shares.quantity,
    is_preview => false
  );
  if convert_shares.idempotency_key is not null and v_result.code is null then
    perform trading.keep_reply(
      v_user_id, convert_shares.idempotency_key, convert_shares.request_fingerprint, v_result.body
    );
  end if;
  return v_result;
end
$$;

comment on function api.convert_shares(uuid, uuid, int, uuid[], uuid, uuid) is
  'Exchanges shares of an exclusive event: NO shares of the markets that are named (quantity of '
  'each) for YES shares of all its other markets and 100 cents a share for each named market but '
  'one; without market_ids, YES shares of all its markets for 100 cents a share. An idempotency '
  'key works as in api.run_command. Rejections, in order of precedence: INVALID_REQUEST, '
  'TRADING_PAUSED, UNAUTHORIZED, '
  'SELF_EXCLUDED, ACCOUNT_FROZEN, LIMITS_SETUP_REQUIRED, NOT_FOUND (the event), NOT_EXCLUSIVE, '
  'MARKET_NOT_FOUND (not one of the event), MARKET_NOT_OPEN (any of the event), '
  'INSUFFICIENT_BALANCE. To redeem, nothing but the resolution of a market counts as not open, and '
  'what keeps a user from trading does not count. May fail with 40001, 40P01 or 55P03: call it '
  'again. Locks: the row of the event, its markets in ascending id, then the user; none for what '
  'is rejected as things are before.';
