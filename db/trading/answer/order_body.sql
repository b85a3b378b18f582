create or replace function trading.order_body(
  order_object text, fills text, cancelled_orders text, balance_cents bigint, fee_cents bigint
)
returns text
language sql stable parallel safe
return format(
  '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
  order_object, fills, cancelled_orders, trading.balance_object(balance_cents),
  coalesce(fee_cents::text, 'null')
);

comment on function trading.order_body(text, text, text, bigint, bigint) is
  'The body of the answer to an order, as JSON text. fills and cancelled_orders: their objects, '
  'with commas between them, or null. See trading.order_object.';
