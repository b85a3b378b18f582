create or replace function trading.fill_object(
  id uuid, market_id uuid, taker_side trading.side, taker_order_id uuid, maker_order_id uuid,
  taker_user_id uuid, maker_user_id uuid, yes_price int, quantity int, created_at text
)
returns text
language sql stable parallel safe
return format(
  '{"id":"%s","marketId":"%s","buyOrderId":"%s","sellOrderId":"%s","buyerId":"%s",'
  '"sellerId":"%s","price":%s,"quantity":%s,"createdAt":"%s"}',
  id, market_id,
  case taker_side when 'yes' then taker_order_id else maker_order_id end,
  case taker_side when 'yes' then maker_order_id else taker_order_id end,
  case taker_side when 'yes' then taker_user_id else maker_user_id end,
  case taker_side when 'yes' then maker_user_id else taker_user_id end,
  yes_price, quantity, created_at
);

comment on function trading.fill_object(
  uuid, uuid, trading.side, uuid, uuid, uuid, uuid, int, int, text
) is
  'A fill as the answers show it, as JSON text: the stored YES order is the buy order, the stored '
  'NO order the sell order.';
