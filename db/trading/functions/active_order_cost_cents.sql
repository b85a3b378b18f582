create or replace function trading.active_order_cost_cents(
  "order" trading.orders, open_order trading.active_orders, at timestamptz
)
returns bigint
language sql stable
return case
  when ("order").order_type = 'sell' or (open_order).expires_at <= at then 0
  when (open_order).queue_position is not null
    then (("order").quantity - ("order").filled_quantity)::bigint * ("order").price
  else trading.scheduled_order_cost_cents("order", at)
end;

comment on function trading.active_order_cost_cents(
  trading.orders, trading.active_orders, timestamptz
) is
  'What an open order could still cost, in cents: a resting buy what is left of it at its price, '
  'a scheduled one its worst case. Nothing once it has expired.';
