create or replace function trading.reduce_order(
  context trading.market_context, "order" trading.orders, quantity int
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update trading.orders as o
  set quantity = reduce_order.quantity
  where o.id = ("order").id;

  insert into trading.order_reductions (order_id, quantity_before, quantity_after, at)
  values (("order").id, ("order").quantity, reduce_order.quantity, context.at);

  update trading.book_levels as l
  set quantity = l.quantity - (("order").quantity - reduce_order.quantity)
  from trading.active_orders as b
  where b.order_id = ("order").id
    and l.market_id = b.market_id
    and l.book_price = b.book_price
    and l.book_side = b.book_side;

  perform trading.raise_version(context.market_id, context.market_public_id);
end
$$;

comment on function trading.reduce_order(trading.market_context, trading.orders, int) is
  'Takes shares off the end of a resting order, which keeps its place in the queue. quantity is '
  'the new total, above what is filled. The caller holds the market''s lock.';
