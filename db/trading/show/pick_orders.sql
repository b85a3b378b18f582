create or replace function trading.pick_orders(user_id bigint, order_ids bigint[])
returns setof trading.orders
language sql stable
begin atomic
  select o.*
  from trading.orders as o
  where o.id = any (pick_orders.order_ids)
    and o.user_id = pick_orders.user_id
  union all
  select a.*
  from trading.archived_orders as a
  where a.user_id = pick_orders.user_id
    and a.id = any (pick_orders.order_ids);
end;

comment on function trading.pick_orders(bigint, bigint[]) is
  'Orders of a user by their ids, archived ones too, in no order.';
