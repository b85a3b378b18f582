create or replace function admin.cancel_orders(user_id uuid, market_id uuid default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_ids_kept constant int := 1000;
  v_user_id constant bigint := identity.user_id(cancel_orders.user_id);
  v_market_ids bigint[];
  v_open_order_ids bigint[];
  v_cancelled int;
begin
  perform admin.check_role('cancel_orders');
  if cancel_orders.market_id is null then
    v_market_ids := trading.lock_user_with_markets(cancel_orders.user_id);
  else
    v_market_ids := array[catalog.market_id(cancel_orders.market_id)];
    perform trading.lock_market(v_market_ids[1]);
  end if;
  v_open_order_ids := array(
    select b.order_id
    from trading.active_orders as b
    where b.user_id = v_user_id and b.market_id = any (v_market_ids)
  );
  v_cancelled := case
    when cancel_orders.market_id is null
      then trading.stop_user_orders(v_user_id, v_market_ids, 'user_cancelled', core.now())
    else trading.end_orders(v_open_order_ids, 'user_cancelled', core.now())
  end;

  perform admin.audit('cancel_orders', jsonb_build_object(
    'user_id', cancel_orders.user_id,
    'market_id', cancel_orders.market_id,
    'cancelled', v_cancelled,
    'order_ids', array(
      select o.public_id
      from trading.orders as o
      where o.id = any (v_open_order_ids)
        and o.cancel_reason = 'user_cancelled' -- and not expired
      order by o.id
      limit c_most_ids_kept
    )
  ));
  return v_cancelled;
end
$$;

comment on function admin.cancel_orders(uuid, uuid) is
  'Cancels the open orders of a user (user_cancelled), resting and scheduled ones, in one market '
  'or in all; returns how many. In all, those that cannot be cancelled at once trade no more, and '
  'a worker cancels them (trading.stop_user_orders). Each sends order_cancelled to the user. '
  'Orders past their expiry expire, and those that are stopped end for the reason of that; they '
  'are not counted. The audit row has the ids of the first 1,000 that were cancelled at once, '
  'oldest first. Errors: NOT_FOUND. Locks: as trading.lock_user_with_markets; with a market_id '
  'that market alone.';
