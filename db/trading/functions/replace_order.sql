create or replace function trading.replace_order(
  context trading.market_context,
  "order" trading.orders,
  price int,
  quantity int,
  is_priced boolean
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_active_order trading.active_orders;
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_outcome trading.order_result;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

  v_request.user_id := ("order").user_id;
  v_request.side := ("order").side;
  v_request.order_type := ("order").order_type;
  v_request.price := replace_order.price;
  v_request.quantity := replace_order.quantity - ("order").filled_quantity;
  v_request.time_in_force := ("order").time_in_force;
  v_request.post_only := ("order").post_only;
  v_request.expires_at := ("order").expires_at;
  v_request.book_side := v_active_order.book_side;
  v_request.book_price := case ("order").order_type
    when 'buy' then replace_order.price
    else 100 - replace_order.price
  end;
  -- What never rests and still has the protection price came without one.
  v_request.is_market := not replace_order.is_priced
    and ("order").time_in_force = 'ioc'
    and v_request.book_price = 99;
  v_request.relieved_cents := trading.active_order_cost_cents("order", v_active_order, context.at);

  v_batch := trading.match_batch(context, array[v_request], false);
  v_outcome := (v_batch.result).outcomes[1];
  if v_outcome.code is not null then
    if v_outcome.code = 'CONFLICT_RETRY' then
      -- The makers that it found dead so far are cancelled, or it would meet them again.
      perform trading.settle_batch(context, v_batch);
    end if;
    return (v_outcome.code, v_outcome.message, false, null)::api.result;
  end if;

  perform trading.end_active_orders(
    context.market_id, array[("order").id], 'user_amended', context.at
  );
  perform trading.settle_batch(context, v_batch);
  if context.live_delay_ms is not null and v_active_order.queue_position is not null then
    perform trading.raise_version(context.market_id, context.market_public_id);
  end if;

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":%s,"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.result_object(v_outcome, context, core.iso8601(context.at), null),
      trading.fills_of_order(v_outcome.order_id),
      ("order").public_id,
      coalesce(v_outcome.fee_cents, 0)
    )
  )::api.result;
end
$$;

comment on function trading.replace_order(
  trading.market_context, trading.orders, int, int, boolean
) is
  'Cancels an open order (user_amended) and places another for what is left of it, at a price and '
  'with a total quantity that counts what is filled, or changes nothing if that is refused. '
  'is_priced: the price was asked for and is not just the order''s own. The caller holds the '
  'market''s lock; locks as api.place_orders does.';
