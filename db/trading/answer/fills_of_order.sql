create or replace function trading.fills_of_order(order_id bigint)
returns text
language plpgsql stable
as $$
begin
  -- Not by joins: a plan made on the first day could begin with any of these tables.
  return (
    select string_agg(
      trading.fill_object(
        t.public_id, x.market_id, t.taker_side, x.taker_order_id, x.maker_order_id,
        x.taker_user_id, x.maker_user_id, t.price, t.quantity, core.iso8601(t.created_at)
      ),
      ','
      order by t.id
    )
    -- By a range, in order: on an empty table the planner may choose the primary key, whose order
    -- is that of the answer, and keep to it.
    from (
      select f.*
      from trading.trades as f
      where f.taker_order_id between fills_of_order.order_id and fills_of_order.order_id
      order by f.taker_order_id
    ) as t
    cross join lateral (
      select
        (select m.public_id from catalog.markets as m where m.id = t.market_id),
        (select o.public_id from trading.orders as o where o.id = t.taker_order_id),
        (select o.public_id from trading.orders as o where o.id = t.maker_order_id),
        (select u.public_id from identity.users as u where u.id = t.taker_user_id),
        (select u.public_id from identity.users as u where u.id = t.maker_user_id)
      offset 0
    ) as x (market_id, taker_order_id, maker_order_id, taker_user_id, maker_user_id)
  );
end
$$;

comment on function trading.fills_of_order(bigint) is
  'What an order took when it was placed, in order of execution, as the answers show it: JSON '
  'objects with commas between them, null if there are none.';
