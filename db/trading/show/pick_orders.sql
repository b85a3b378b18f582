-- Not inlined: PostgreSQL would forget the partitions that the archive gets while it plans a
-- caller, for as long as the session lives. A plan of this statement is made anew.
create or replace function trading.pick_orders(user_id bigint, order_ids bigint[])
returns setof trading.orders
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
begin
  return query
    select o.*
    from unnest(pick_orders.order_ids) as i (id)
    cross join lateral (
      select x.*
      from trading.orders as x
      where x.id = i.id
        and x.user_id = pick_orders.user_id
      union all
      select a.*
      from trading.archived_orders as a
      where a.id = i.id
        and a.user_id = pick_orders.user_id
    ) as o;
end
$$;

comment on function trading.pick_orders(bigint, bigint[]) is
  'Orders of a user by their ids, archived ones too, in no order.';
