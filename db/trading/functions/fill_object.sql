create or replace function trading.fill_object(
  id uuid, market_id uuid, taker_side trading.side, taker_order_id uuid, maker_order_id uuid,
  taker_user_id uuid, maker_user_id uuid, yes_price int, quantity int, created_at timestamptz
)
returns json
language sql stable parallel safe
return json_build_object(
  'id', id,
  'marketId', market_id,
  'buyOrderId', case taker_side when 'yes' then taker_order_id else maker_order_id end,
  'sellOrderId', case taker_side when 'yes' then maker_order_id else taker_order_id end,
  'buyerId', case taker_side when 'yes' then taker_user_id else maker_user_id end,
  'sellerId', case taker_side when 'yes' then maker_user_id else taker_user_id end,
  'price', yes_price,
  'quantity', quantity,
  'createdAt', core.iso8601(created_at)
);

comment on function trading.fill_object(
  uuid, uuid, trading.side, uuid, uuid, uuid, uuid, int, int, timestamptz
) is
  'A fill as the answers show it: the stored YES order is the buy order, the stored NO order the '
  'sell order.';
