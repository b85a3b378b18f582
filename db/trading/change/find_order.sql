create or replace function trading.find_order(user_public_id uuid, order_public_id uuid)
returns setof trading.orders
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select o.*
    from trading.orders as o
    join identity.users as u on u.id = o.user_id
    where o.public_id = find_order.order_public_id
      and u.public_id = find_order.user_public_id;
  -- Orders go to the archive and never come back: looked for in this order, none is missed.
  if not found then
    return query
      select a.*
      from trading.archived_orders as a
      join identity.users as u on u.id = a.user_id
      where a.public_id = find_order.order_public_id
        and u.public_id = find_order.user_public_id;
  end if;
end
$$;

comment on function trading.find_order(uuid, uuid) is
  'A user''s order, archived or not: one row, or none.';
