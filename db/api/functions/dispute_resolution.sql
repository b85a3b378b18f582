create or replace function api.dispute_resolution(
  user_id uuid,
  market_id uuid,
  text text,
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
    select t.user_id from trading.traders as t where t.public_id = dispute_resolution.user_id
  );
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = dispute_resolution.market_id
  );
  v_result core.result;
begin
  -- A replay waits for no lock. Under the lock of the user an identical request is over.
  v_result := trading.find_reply(
    v_user_id, dispute_resolution.idempotency_key, dispute_resolution.request_fingerprint
  );
  if v_result.replayed is null then
    perform trading.lock_market(v_market_id);
    perform trading.lock_traders(array[v_user_id]);
    v_result := trading.find_reply(
      v_user_id, dispute_resolution.idempotency_key, dispute_resolution.request_fingerprint
    );
  end if;
  if v_result.replayed is not null then
    return v_result;
  end if;

  v_result := trading.dispute_resolution(v_user_id, v_market_id, dispute_resolution.text);
  if dispute_resolution.idempotency_key is not null and v_result.code is null then
    perform trading.keep_reply(
      v_user_id, dispute_resolution.idempotency_key, dispute_resolution.request_fingerprint,
      v_result.body
    );
  end if;
  return v_result;
end
$$;

comment on function api.dispute_resolution(uuid, uuid, text, uuid, uuid) is
  'Disputes the resolution of a market that holds, in 1 to 2,000 characters, once a user and '
  'resolution: a correction may be disputed again. An idempotency key works as in '
  'api.run_command. Rejections, in order of precedence: INVALID_REQUEST, UNAUTHORIZED, NOT_FOUND '
  '(the market), NOT_OPEN_TO_DISPUTE (not resolved, voided, or the window of '
  'admin.set_dispute_window is over), NO_SHARES_HELD (nothing was settled for the user by this '
  'resolution), ALREADY_DISPUTED. Locks: the market, then the user.';
