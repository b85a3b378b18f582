-- Not inlined: PostgreSQL would forget the partitions that the archive gets while it plans a
-- caller, for as long as the session lives. A plan of these statements is made anew.
create or replace function trading.pick_orders(user_id bigint, order_ids bigint[])
returns setof trading.orders
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  v_count int;
begin
  return query
    -- By the ids alone, here and below: where most users have few orders, a plan would read all
    -- orders of the user, and for each id anew.
    select o.*
    from unnest(pick_orders.order_ids) as i (id)
    cross join lateral (
      select x.*
      from trading.orders as x
      where x.id = i.id
      offset 0
    ) as o
    where o.user_id = pick_orders.user_id;
  get diagnostics v_count = row_count;
  -- Only for those that are not there: a month of the archive may be on another server.
  if v_count < cardinality(pick_orders.order_ids) then
    return query
      select o.*
      from (
        select a.*
        from trading.archived_orders as a
        where a.id = any (pick_orders.order_ids)
        offset 0
      ) as o
      where o.user_id = pick_orders.user_id;
  end if;
end
$$;

comment on function trading.pick_orders(bigint, bigint[]) is
  'Orders of a user by their ids, archived ones too, in no order. The ids are different.';
