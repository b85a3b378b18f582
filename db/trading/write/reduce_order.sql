create or replace function trading.reduce_order(
  "order" trading.orders, quantity int, at timestamptz
)
returns void
language plpgsql
as $$
declare
  v_taken_off constant int := ("order").quantity - reduce_order.quantity;
  v_active_order trading.active_orders;
begin
  insert into trading.order_reductions (order_id, quantity_before, quantity_after, at)
  values (("order").id, ("order").quantity, reduce_order.quantity, reduce_order.at);

  update trading.active_orders as b
  set quantity = reduce_order.quantity,
    left_quantity = b.left_quantity - v_taken_off
  where b.order_id = ("order").id
  returning b.* into strict v_active_order;

  perform trading.write_depth(
    v_active_order.market_id,
    array[trading.depth_place(v_active_order.book_side, v_active_order.book_price)],
    array[-v_taken_off],
    raises_version => true
  );
end
$$;

comment on function trading.reduce_order(trading.orders, int, timestamptz) is
  'Takes shares off the end of a resting order, which keeps its place in the queue. quantity is '
  'the new total, above what is filled. Raises the version of the market by one, with a '
  'market_changed event. The caller holds the market''s lock.';
