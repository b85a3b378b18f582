create or replace function ledger.ended_orders(most int)
returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = on
--!include planner/nested_loops.sql
as $$
  select array(
    select w.order_id
    from ledger.awaited_orders as w
    where not exists (select from trading.active_orders as o where o.order_id = w.order_id)
      and exists (select from trading.final_orders as f where f.id = w.order_id)
    order by w.order_id
    limit ended_orders.most
  )
$$;

comment on function ledger.ended_orders(int) is
  'Orders that were open when the ids around them were sealed, and have ended: the first so many '
  'that no block has yet, by ascending id.';
