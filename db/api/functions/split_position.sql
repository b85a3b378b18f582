create or replace function api.split_position(user_id uuid, market_id uuid, quantity int)
returns api.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select trading.split_position(
    split_position.user_id, split_position.market_id, split_position.quantity
  )
$$;

comment on function api.split_position(uuid, uuid, int) is
  'Makes complete sets of YES and NO for a user out of 100 cents each. Rejections, in order of '
  'precedence: INVALID_REQUEST, TRADING_PAUSED, UNAUTHORIZED, SELF_EXCLUDED, '
  'LIMITS_SETUP_REQUIRED, MARKET_NOT_FOUND, MARKET_NOT_OPEN, INSUFFICIENT_BALANCE, LOSS_LIMIT. '
  'Locks: the market, then the user.';
