create or replace function trading.open_cost_cents(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce(sum(trading.active_order_cost_cents(b, open_cost_cents.at)), 0)::bigint
  from trading.active_orders as b
  where b.user_id = open_cost_cents.user_id;
end;

comment on function trading.open_cost_cents(bigint, timestamptz) is
  'What a user''s open orders could still cost, in cents.';
