create or replace function ledger.rows_of_range(relation regclass)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    case s.sequence_name
      when 'trading.order_ids' then
        'select t.%1$I as id, %2$s as line from %3$s as t
         where t.%1$I > coalesce(r.after_id, -9223372036854775808)
           and t.%1$I <= r.through_id
           and not exists (
             select from unnest(b.open_order_ids) as o (id) where o.id = t.%1$I
           )
         union all
         select t.%1$I, %2$s from %3$s as t
         where t.%1$I = any (b.ended_order_ids)'
      else
        'select t.%1$I as id, %2$s as line from %3$s as t
         where t.%1$I > coalesce(r.after_id, -9223372036854775808)
           and t.%1$I <= r.through_id'
    end,
    s.id_column, ledger.canonical_row(rows_of_range.relation), rows_of_range.relation
  )
  from ledger.sealed_tables as s
  where s.table_name::regclass = rows_of_range.relation
$$;

comment on function ledger.rows_of_range(regclass) is
  'A query of the rows of a sealed table that belong to the range r of the block b: their id, and '
  'line, their canonical text. Who runs it includes planner/hash_joins.sql: a block '
  'may have ten thousand open orders.';
