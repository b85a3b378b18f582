create or replace function trading.cancel_order(
  order_id bigint, user_public_id uuid, order_public_id uuid
)
returns core.result
language plpgsql
as $$
declare
  v_result core.result;
  v_order trading.orders;
  v_cancelled int;
begin
  v_result.replayed := false;
  if cancel_order.order_id is null then
    v_result.code := 'ORDER_NOT_FOUND';
    return v_result;
  end if;

  v_cancelled := trading.end_orders(
    array[cancel_order.order_id], 'user_cancelled', core.now(), announced => false
  );

  select o.* into strict v_order
  from trading.find_order(cancel_order.user_public_id, cancel_order.order_public_id) as o;
  if v_cancelled = 0 then
    v_result.code := 'ORDER_NOT_CANCELLABLE';
    v_result.message := 'Cannot cancel order with status: ' || v_order.status;
    return v_result;
  end if;

  select format(
    '{"order":%s,"balance":%s}',
    trading.order_object(
      v_order.public_id, cancel_order.user_public_id, m.public_id, v_order.side, v_order.price,
      v_order.quantity, v_order.filled_quantity, v_order.status, v_order.order_type,
      null, v_order.cancel_reason, v_order.expires_at,
      core.iso8601(v_order.created_at), null
    ),
    trading.balance_object(t.balance_cents)
  )
  into v_result.body
  from catalog.markets as m
  join trading.traders as t on t.user_id = v_order.user_id
  where m.id = v_order.market_id;
  return v_result;
end
$$;

comment on function trading.cancel_order(bigint, uuid, uuid) is
  'Cancels a user''s open order: the documented body of DELETE /orders/:id, or a rejection. An '
  'order past its expiry expires instead, and one that is stopped ends for the reason of that. The '
  'caller holds the lock of the market.';
