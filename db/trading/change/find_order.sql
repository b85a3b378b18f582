create or replace function trading.find_order(user_public_id uuid, order_public_id uuid)
returns setof trading.orders
language plpgsql stable
as $$
declare
  v_user_id constant bigint := (
    select u.id from identity.users as u where u.public_id = find_order.user_public_id
  );
begin
  -- By the id of the order alone: a plan made on the first day could read all orders of the user.
  return query
    select o.*
    from (
      select x.* from trading.orders as x where x.public_id = find_order.order_public_id limit 1
    ) as o
    where o.user_id = v_user_id;
  -- Orders go to the archive and never come back: looked for in this order, none is missed.
  if not found then
    return query
      select a.*
      from (
        select x.*
        from trading.archived_orders as x
        where x.public_id = find_order.order_public_id
        limit 1
      ) as a
      where a.user_id = v_user_id;
  end if;
end
$$;

comment on function trading.find_order(uuid, uuid) is
  'A user''s order, archived or not: one row, or none.';
