create or replace function trading.replace_order(
  "order" trading.orders,
  price int,
  quantity int,
  is_priced boolean,
  at timestamptz,
  most_makers int default null
)
returns core.result
language plpgsql
as $$
declare
  v_active_order trading.active_orders;
  r trading.requests;
  v_batch trading.batch;
  o trading.results;
begin
  select b.* into strict v_active_order
  from trading.active_orders as b
  where b.order_id = ("order").id;

  r.market_ids := array[("order").market_id];
  r.market_place := array[1];
  r.user_id := array[("order").user_id];
  r.side := array[("order").side];
  r.order_type := array[("order").order_type];
  r.price := array[replace_order.price];
  r.quantity := array[replace_order.quantity - ("order").filled_quantity];
  r.time_in_force := array[("order").time_in_force];
  r.post_only := array[("order").post_only];
  r.expires_at := array[("order").expires_at];
  r.is_yes := array[v_active_order.book_side = 'yes'];
  r.book_price := array[
    case ("order").order_type when 'buy' then replace_order.price else 100 - replace_order.price end
  ];
  -- What never rests and still has the protection price came without one.
  r.is_market := array[
    not replace_order.is_priced and ("order").time_in_force <> 'gtc' and r.book_price[1] = 99
  ];
  r.cancels_own := array[v_active_order.cancels_own];
  r.relieved_cents := array[trading.active_order_cost_cents(v_active_order, replace_order.at)];

  v_batch := trading.match_batch(
    r, replace_order.at, most_makers => replace_order.most_makers
  );
  if v_batch.is_too_deep then
    return ('AGAIN', null, false, (v_batch.markets).public_id[1])::core.result;
  end if;
  o := v_batch.results;
  if o.code[1] is not null then
    if o.code[1] = 'CONFLICT_RETRY' then
      -- The makers that it had to cancel so far stay cancelled, or it would meet them again.
      perform trading.write_batch(v_batch);
    end if;
    return (o.code[1], null, false, null)::core.result;
  end if;
  -- It may have been stopped before the user was locked; then the next call sees it.
  if exists (
    select from trading.stop_of(("order").user_id, ("order").id, replace_order.at)
  ) then
    return ('CONFLICT_RETRY', null, false, null)::core.result;
  end if;

  -- An order that is matched at once changes the version with the one that it replaces.
  perform trading.end_orders(
    array[("order").id], 'user_amended', replace_order.at,
    announced => false,
    raises_version => o.release_at[1] is not null
  );
  v_batch := trading.write_batch(v_batch);
  o := v_batch.results;
  insert into trading.order_replacements (order_id, replaced_order_id)
  values (o.order_id[1], ("order").id);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":[%s],"amended":true,"queuePositionChanged":true,'
      '"cancelledOrderId":"%s","feeCents":%s}',
      trading.order_object(
        o.public_id[1], (v_batch.traders).public_ids[v_batch.trader_place[1]],
        (v_batch.markets).public_id[1], r.side[1], r.price[1], o.quantity[1],
        o.quantity[1] - o.left_quantity[1], o.status[1], r.order_type[1], null,
        o.cancel_reason[1], r.expires_at[1], core.iso8601(replace_order.at),
        case when o.release_at[1] is not null
          then trading.schedule_members(o.release_at[1], null, replace_order.at) end
      ),
      trading.fills_of_order(o.order_id[1]),
      ("order").public_id,
      coalesce(o.fee_cents[1], 0)
    )
  )::core.result;
end
$$;

comment on function trading.replace_order(
  trading.orders, int, int, boolean, timestamptz, int
) is
  'Cancels an open order (user_amended) and places another for what is left of it, at a price and '
  'with a total quantity that counts what is filled, or changes nothing if that is rejected. '
  'is_priced: the price was asked for and is not just the order''s own. AGAIN: the other '
  'order could meet more than most_makers; nothing is changed, and the body is the id of the '
  'market. CONFLICT_RETRY: the order was '
  'stopped meanwhile, or makers were cancelled. The caller holds the market''s lock; locks as '
  'api.place_orders does.';
