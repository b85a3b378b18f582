create or replace function trading.write_plain_rest(
  request trading.order_request,
  at timestamptz,
  order_id bigint,
  public_id uuid,
  market trading.market_state,
  taker trading.traders
)
returns void
language plpgsql volatile
as $$
declare
  r constant trading.order_request := write_plain_rest.request;
  v_is_yes constant boolean := r.side = 'yes';
  v_price constant int := r.price;
  v_place constant int := trading.depth_place(r.side, r.price);
begin
  with placed as (
    insert into trading.active_orders (
      market_id, user_id, order_id, queue_position, order_public_id, created_at, quantity,
      left_quantity, price, book_price, book_side, side, order_type, time_in_force, post_only,
      cancels_own, expires_at
    )
    values (
      market.market_id, taker.user_id, write_plain_rest.order_id, write_plain_rest.order_id,
      write_plain_rest.public_id, write_plain_rest.at, r.quantity, r.quantity, v_price,
      v_price, r.side, r.side, 'buy', 'gtc', coalesce(r."postOnly", false),
      r."selfTrade" is not distinct from 'cancel_resting', r."expiresAt"
    )
  ),
  told as (
    insert into trading.outbox (channel, payload)
    values (
      'market_changed',
      trading.market_change_object(r."marketId", market.version + 1)::json
    )
  )
  update trading.market_state as s set
    version = s.version + 1,
    placed_count = s.placed_count + 1,
    placed_id_sum = s.placed_id_sum + write_plain_rest.order_id,
    depth[v_place] = coalesce(s.depth[v_place], 0) + r.quantity,
    first_yes_position = case when v_is_yes and v_price > s.best_yes_price then 0
      else s.first_yes_position end,
    first_no_position = case when not v_is_yes and v_price > s.best_no_price then 0
      else s.first_no_position end,
    best_yes_price = case when v_is_yes then greatest(s.best_yes_price, v_price)
      else s.best_yes_price end,
    best_no_price = case when v_is_yes then s.best_no_price
      else greatest(s.best_no_price, v_price) end
  where s.market_id = market.market_id;
end
$$;

comment on function trading.write_plain_rest(
  trading.order_request, timestamptz, bigint, uuid, trading.market_state, trading.traders
) is
  'Writes an order that rests (trading.place_plain_order), with its market and its event.';
