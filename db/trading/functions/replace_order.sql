create or replace function trading.replace_order(
  context trading.market_context,
  "order" trading.orders,
  price int,
  quantity int,
  is_priced boolean,
  most_makers int default null
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_active_order trading.active_orders;
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_result trading.order_result;
  v_written trading.written_batch;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

  v_request.market := 1;
  v_request.market_id := ("order").market_id;
  v_request.user_id := ("order").user_id;
  v_request.side := ("order").side;
  v_request.order_type := ("order").order_type;
  v_request.price := replace_order.price;
  v_request.quantity := replace_order.quantity - ("order").filled_quantity; -- mutant: amend_forgets_fills
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
    and ("order").time_in_force <> 'gtc'
    and v_request.book_price = 99;
  v_request.cancels_own := v_active_order.cancels_own;
  v_request.relieved_cents := trading.active_order_cost_cents(v_active_order, context.at);

  v_batch := trading.match_batch(
    array[context], array[v_request], context.at, most_makers => replace_order.most_makers
  );
  if (v_batch.result).results is null then
    return ('MARKET_DEEP', null, false, null)::api.result;
  end if;
  v_result := (v_batch.result).results[1];
  if v_result.code is not null then
    if v_result.code = 'CONFLICT_RETRY' then
      -- The makers that it had to cancel so far stay cancelled, or it would meet them again.
      perform trading.write_batch(v_batch);
    end if;
    return (v_result.code, null, false, null)::api.result;
  end if;

  -- An order that is matched at once is counted with the order that it replaces, as one change.
  perform trading.end_active_orders(
    array[("order").id], 'user_amended', context.at,
    expires => false, counted => context.live_delay_ms is not null
  );
  v_written := trading.write_batch(v_batch);
  insert into trading.order_replacements (order_id, replaced_order_id)
  values ((v_written.orders[1]).id, ("order").id);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":%s,"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.order_object(
        (v_written.orders[1]).public_id,
        (v_batch.traders).public_ids[(v_batch.request_arrays).traders[1]],
        context.public_id, v_request.side, v_request.price, v_result.quantity,
        v_result.quantity - v_result.left_quantity, v_result.status, v_request.order_type, null,
        v_result.cancel_reason, v_request.expires_at, core.iso8601(context.at),
        case when v_result.status = 'scheduled' then trading.schedule_members(
          context.at + context.live_delay_ms * interval '1 millisecond', null, context.at
        ) end
      ),
      trading.fills_of_order((v_written.orders[1]).id),
      ("order").public_id,
      coalesce(v_result.fee_cents, 0)
    )
  )::api.result;
end
$$;

comment on function trading.replace_order(
  trading.market_context, trading.orders, int, int, boolean, int
) is
  'Cancels an open order (user_amended) and places another for what is left of it, at a price and '
  'with a total quantity that counts what is filled, or changes nothing if that is rejected. '
  'is_priced: the price was asked for and is not just the order''s own. MARKET_DEEP: the other '
  'order could meet more than most_makers; nothing is changed. The caller holds the market''s '
  'lock; locks as api.place_orders does.';
