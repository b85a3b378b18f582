create or replace function api.amend_order(
  user_id uuid, order_id uuid, price int default null, quantity int default null
)
returns api.result
language plpgsql volatile security definer
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
declare
  v_problem text := case
    when amend_order.price is null and amend_order.quantity is null
      then 'price: required without quantity'
    when amend_order.price not between 1 and 99 then 'price: must be between 1 and 99'
    when amend_order.quantity not between 1 and 10000
      then 'quantity: must be between 1 and 10000'
  end;
begin
  if v_problem is not null then
    return ('INVALID_REQUEST', v_problem, false, null)::api.result;
  end if;
  return trading.amend_order(
    amend_order.user_id, amend_order.order_id, amend_order.price, amend_order.quantity
  );
end
$$;

comment on function api.amend_order(uuid, uuid, int, int) is
  'Amends an open order of a user: a new price (1-99), a new total quantity (1-10000), or both. '
  'Rejections: those of an order, ORDER_NOT_FOUND, ORDER_NOT_AMENDABLE, BELOW_FILLED, '
  'BUDGET_ORDER_NOT_AMENDABLE. A rejection changes nothing, except that an order past its expiry '
  'expires, and that CONFLICT_RETRY cancels makers: call it again. Locks: the market, then the '
  'user and the makers that a new order can reach. May fail with 40001, 40P01 or 55P03: call it '
  'again.';
