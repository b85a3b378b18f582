create or replace function trading.order_accepted(
  status trading.order_status,
  quantity int,
  left_quantity int,
  cancel_reason trading.cancel_reason,
  fee_cents bigint,
  balance_cents bigint,
  maker int
)
returns trading.order_result
language sql immutable parallel safe
return (
  null, null, null, status, quantity, left_quantity, cancel_reason, fee_cents, balance_cents, maker
)::trading.order_result;

comment on function trading.order_accepted(
  trading.order_status, int, int, trading.cancel_reason, bigint, bigint, int
) is
  'The result of a request that became an order. maker is its place among the makers if it rests.';
