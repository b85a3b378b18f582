create or replace function trading.open_cost_cents(
  user_id bigint, at timestamptz, most int default null
)
returns bigint
language sql stable
begin atomic
  select case
    when count(*) <= open_cost_cents.most is not false
      then coalesce(sum(trading.active_order_cost_cents(b, open_cost_cents.at)), 0)::bigint
  end
  from (
    select x::trading.active_orders as b
    from trading.active_orders as x
    where x.user_id = open_cost_cents.user_id
    limit open_cost_cents.most + 1
  ) as o;
end;

comment on function trading.open_cost_cents(bigint, timestamptz, int) is
  'What a user''s open orders could still cost, in cents; null if they are more than so many.';
