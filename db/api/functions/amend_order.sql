create or replace function api.amend_order(
  user_id uuid, order_id uuid, price int default null, quantity int default null
)
returns api.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
  select trading.amend_order(
    amend_order.user_id, amend_order.order_id, amend_order.price, amend_order.quantity
  )
$$;

comment on function api.amend_order(uuid, uuid, int, int) is
  'For servers of version 0.2.0: the command amend of api.run_command, without a key.';
