create or replace function ledger.unsealed_rows()
returns table (table_name text, row_count bigint, oldest_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
--!include planner/hash_joins.sql
as $$
declare
  c_most_counted constant int := 10000;
  v_block ledger.blocks;
  v_range ledger.block_ranges;
  v_relation regclass;
  v_time_column text;
begin
  -- Those with lower ids were left out of their blocks, too.
  v_block.open_order_ids := array(
    select o.order_id
    from trading.active_orders as o
    where o.order_id > coalesce(
      (
        select d.through_id
        from ledger.sealed_ids() as d
        where d.sequence_name = 'trading.order_ids'
      ),
      0
    )
  );
  v_block.ended_order_ids := ledger.ended_orders(c_most_counted);
  v_range.through_id := 9223372036854775807;
  for table_name, v_relation, v_time_column, v_range.after_id in
    select s.table_name, s.table_name::regclass, s.time_column, d.through_id
    from ledger.sealed_tables as s
    join ledger.sealed_ids() as d on d.sequence_name = s.sequence_name
    order by s.table_name
  loop
    execute format(
      'select count(*), min((u.line::json ->> $4)::timestamptz)
       from (
         select q.line
         from (select ($1).*) as b
         cross join (select ($2).*) as r
         cross join lateral (%s) as q
         limit $3
       ) as u',
      ledger.rows_of_range(v_relation)
    )
    into row_count, oldest_at
    using v_block, v_range, c_most_counted, v_time_column;
    if row_count > 0 then
      return next;
    end if;
  end loop;
end
$$;

comment on function ledger.unsealed_rows() is
  'How many rows of each table of history are final and in no block yet, and the time of the '
  'oldest; null of a table whose rows have no time. It stops counting at 10,000. A table without '
  'such rows is left out.';
