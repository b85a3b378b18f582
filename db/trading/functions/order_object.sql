create or replace function trading.order_object(
  id uuid, user_id uuid, market_id uuid, side trading.side, price int, quantity int,
  filled_quantity int, status trading.order_status, order_type trading.order_type,
  time_in_force trading.time_in_force, cancel_reason trading.cancel_reason,
  expires_at timestamptz, created_at timestamptz
)
returns json
language sql stable parallel safe
return json_build_object(
  'id', id,
  'userId', user_id,
  'marketId', market_id,
  'side', side,
  'price', price,
  'quantity', quantity,
  'filledQuantity', filled_quantity,
  'status', status,
  'orderType', order_type,
  'timeInForce', time_in_force,
  'cancelReason', cancel_reason,
  'expiresAt', core.iso8601(expires_at),
  'createdAt', core.iso8601(created_at)
);

comment on function trading.order_object(
  uuid, uuid, uuid, trading.side, int, int, int, trading.order_status, trading.order_type,
  trading.time_in_force, trading.cancel_reason, timestamptz, timestamptz
) is
  'An order as the answers to commands show it.';
