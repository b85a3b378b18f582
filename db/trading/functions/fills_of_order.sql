create or replace function trading.fills_of_order(order_id bigint)
returns json
language sql stable
begin atomic
  select coalesce(
    json_agg(
      json_build_object(
        'id', t.public_id,
        'marketId', m.public_id,
        'buyOrderId', case t.taker_side when 'yes' then taker.public_id else maker.public_id end,
        'sellOrderId', case t.taker_side when 'yes' then maker.public_id else taker.public_id end,
        'buyerId', case t.taker_side when 'yes' then tu.public_id else mu.public_id end,
        'sellerId', case t.taker_side when 'yes' then mu.public_id else tu.public_id end,
        'price', t.price,
        'quantity', t.quantity,
        'createdAt', core.iso8601(t.created_at)
      )
      order by t.id
    ),
    '[]'
  )
  from trading.trades as t
  join catalog.markets as m on m.id = t.market_id
  join trading.orders as taker on taker.id = t.taker_order_id
  join trading.orders as maker on maker.id = t.maker_order_id
  join identity.users as tu on tu.id = t.taker_user_id
  join identity.users as mu on mu.id = t.maker_user_id
  where t.taker_order_id = fills_of_order.order_id;
end;

comment on function trading.fills_of_order(bigint) is
  'What an order took when it was placed, in order of execution, as the answers show it: the '
  'stored YES order is the buy order, the stored NO order the sell order.';
