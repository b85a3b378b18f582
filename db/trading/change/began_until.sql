create or replace function trading.began_until(order_id bigint, last_order_id bigint)
returns boolean
language sql stable
return order_id <= last_order_id
  or trading.comes_from_before(order_id, last_order_id);

comment on function trading.began_until(bigint, bigint) is
  'Whether an order is one of those up to last_order_id, or came by amendments in the place of '
  'one of them.';
