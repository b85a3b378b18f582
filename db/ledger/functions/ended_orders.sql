-- Two indexes of the same order are merged: a row of each, whatever the statistics say. What has
-- left the one is then looked up.
create or replace function ledger.ended_orders(most int)
returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
set enable_nestloop = off
set enable_hashjoin = off
set max_parallel_workers_per_gather = 0
as $$
  select array(
    select w.order_id
    from (
      select a.order_id
      from ledger.awaited_orders as a
      where not exists (select from trading.active_orders as o where o.order_id = a.order_id)
      order by a.order_id
      offset 0
    ) as w
    where (select true from trading.final_orders as f where f.id = w.order_id limit 1)
    limit ended_orders.most
  )
$$;

comment on function ledger.ended_orders(int) is
  'Orders that were open when the ids around them were sealed, and have ended: the first so many '
  'that no block has yet, by ascending id. Cost: a row for each that was open.';
