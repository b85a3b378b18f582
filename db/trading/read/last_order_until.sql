create or replace function trading.last_order_until(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce((
    select o.id
    from trading.orders as o
    where o.user_id = last_order_until.user_id
      and o.created_at <= last_order_until.at
    order by o.user_id desc, o.id desc
    limit 1
  ), 0);
end;

comment on function trading.last_order_until(bigint, timestamptz) is
  'The id of the last order that a user had placed by then, 0 if there is none. Its cost is in the '
  'orders that were placed later.';
