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
    json_build_object(
      'userId', u.public_id,
      'event', json_build_object(
        'type', 'order_cancelled',
        'orderId', o.public_id,
        'marketId', m.public_id,
        'marketTitle', m.title,
        'side', o.side,
        'price', o.price,
        'quantity', o.quantity,
        'filledQuantity', o.filled_quantity,
        'cancelReason', o.cancel_reason
      )
    )
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
