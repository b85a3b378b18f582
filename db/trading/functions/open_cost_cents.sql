create or replace function trading.open_cost_cents(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce(sum((o.quantity - o.filled_quantity)::bigint * o.price), 0)::bigint
  from trading.open_orders as b
  join trading.orders as o on o.id = b.order_id
  where b.user_id = open_cost_cents.user_id
    and b.queue_position is not null
    and o.order_type = 'buy'
    and (b.expires_at is null or b.expires_at > open_cost_cents.at);
end;

comment on function trading.open_cost_cents(bigint, timestamptz) is
  'What a user''s open orders could still cost, in cents: resting buys at their price.';
