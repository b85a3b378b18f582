create or replace function trading.announce_cancelled(order_ids bigint[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
begin
  insert into trading.outbox (channel, user_id, payload)
  select
    'user_event',
    o.user_id,
    format(
      '{"userId":"%s","event":{"type":"order_cancelled","orderId":"%s","marketId":"%s",'
      '"marketTitle":%s,"side":"%s","price":%s,"quantity":%s,"filledQuantity":%s,'
      '"cancelReason":"%s"}}',
      u.public_id, o.public_id, m.public_id, to_json(m.title), o.side, o.price, o.quantity,
      o.filled_quantity, o.cancel_reason
    )::json
  from unnest(announce_cancelled.order_ids) with ordinality as i (id, place)
  join trading.ended_orders as o on o.id = i.id
  join trading.traders as u on u.user_id = o.user_id
  join catalog.markets as m on m.id = o.market_id
  order by i.place;
end
$$;

comment on function trading.announce_cancelled(bigint[]) is
  'Writes an order_cancelled event for the owner of each of these orders, which have just been '
  'cancelled, in the order given.';
