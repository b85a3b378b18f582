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
  'For servers of version 0.2.0: the command split of api.run_command, without a key.';
