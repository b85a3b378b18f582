-- Without a query of its own it becomes a part of the queries that call it: as a function, it would
-- cost twenty times what it reads.
create or replace function trading.active_order_cost_cents(
  open_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
return case
  when (open_order).order_type = 'sell' or (open_order).expires_at <= at then 0
  when (open_order).queue_position is not null
    then (open_order).left_quantity::bigint * (open_order).book_price
  else trading.scheduled_order_cost_cents(open_order, at)
end;

comment on function trading.active_order_cost_cents(trading.active_orders, timestamptz) is
  'What an open order could still cost, in cents: a resting buy what is left of it at its price, '
  'a scheduled one its worst case at the fee in force. Nothing once it has expired.';
