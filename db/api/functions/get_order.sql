create or replace function api.get_order(user_id uuid, order_id uuid)
returns json
language sql stable security definer
set search_path = ''
as $$
  select trading.listed_order_object(o, core.now())
  from trading.orders as o
  join identity.users as u on u.id = o.user_id
  where o.public_id = get_order.order_id
    and u.public_id = get_order.user_id
$$;

comment on function api.get_order(uuid, uuid) is
  'The body of GET /orders/:id: a user''s order in the form of the list, or null.';
