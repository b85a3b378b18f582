create or replace function trading.cancel_active_orders(
  market_id bigint,
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  announced boolean
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market catalog.markets;
  v_ids bigint[];
  v_book_changed boolean;
begin
  select array_agg(e.order_id order by e.order_id), bool_or(e.queue_position is not null)
  into v_ids, v_book_changed
  from trading.end_active_orders(
    cancel_active_orders.market_id, cancel_active_orders.order_ids, cancel_active_orders.reason,
    cancel_active_orders.at
  ) as e;
  if v_ids is null then
    return 0;
  end if;

  select m.* into strict v_market
  from catalog.markets as m
  where m.id = cancel_active_orders.market_id;
  if cancel_active_orders.announced then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', u.public_id,
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', o.public_id,
          'marketId', v_market.public_id,
          'marketTitle', v_market.title,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'filledQuantity', o.filled_quantity,
          'cancelReason', o.cancel_reason
        )
      )
    from unnest(v_ids) with ordinality as i (id, place)
    join trading.orders as o on o.id = i.id
    join identity.users as u on u.id = o.user_id
    order by i.place;
  end if;
  if v_book_changed then
    perform trading.raise_version(v_market.id, v_market.public_id);
  end if;
  return cardinality(v_ids);
end
$$;

comment on function trading.cancel_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
) is
  'Cancels open orders of one market, resting and scheduled ones, for one reason; returns how many '
  'were still there. announced: tell the owners, who did not ask for it. The caller holds the '
  'market''s lock. One change of the market, however many orders leave its book.';
