create or replace function api.cancel_order(user_id uuid, order_id uuid)
returns api.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select trading.cancel_order(cancel_order.user_id, cancel_order.order_id)
$$;

comment on function api.cancel_order(uuid, uuid) is
  'For servers of version 0.2.0: the command cancel of api.run_command, without a key.';
