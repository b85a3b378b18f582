create or replace function core.lagging_sequences()
returns table (sequence_name text, last_id bigint, highest_id bigint)
language plpgsql stable
as $$
declare
  v_column record;
  v_last bigint;
  v_highest bigint;
  v_names text[] := '{}';
  v_last_ids bigint[] := '{}';
  v_highest_ids bigint[] := '{}';
begin
  for v_column in
    select
      format('%I.%I', n.nspname, s.relname) as sequence_name,
      format('%I.%I', m.nspname, t.relname) as table_name, a.attname::text as column_name
    from pg_catalog.pg_class as s
    join pg_catalog.pg_namespace as n on n.oid = s.relnamespace
    join pg_catalog.pg_depend as d on d.objid = s.oid
    join pg_catalog.pg_class as t on t.oid = d.refobjid
    join pg_catalog.pg_namespace as m on m.oid = t.relnamespace
    join pg_catalog.pg_attribute as a
      on a.attrelid = d.refobjid
      and a.attnum = d.refobjsubid
    where s.relkind = 'S'
      and s.relowner = 'exchange_owner'::regrole
      and d.classid = 'pg_class'::regclass
      and d.refclassid = 'pg_class'::regclass
      and d.deptype in ('a', 'i')
    union all
    -- Journals and trades share a sequence, and so do orders, wherever they are. Events leave for
    -- another table.
    values
      ('ledger.journal_ids', 'ledger.posted_journals', 'id'),
      ('ledger.journal_ids', 'trading.trades', 'id'),
      ('trading.order_ids', 'trading.active_orders', 'order_id'),
      ('trading.order_ids', 'trading.ended_orders', 'id'),
      ('trading.order_ids', 'trading.archived_orders', 'id'),
      ('trading.outbox_id_seq', 'trading.outbox_relay', 'noted_id')
  loop
    begin
      -- Each highest id is at the end of an index. Tables are locked before their sequences, as
      -- by who drops them.
      execute format(
        'select h.highest, q.last_value - (not q.is_called)::int
         from (select max(t.%I) as highest from %s as t) as h, %s as q',
        v_column.column_name, v_column.table_name, v_column.sequence_name
      ) into v_highest, v_last;
      v_names := v_names || v_column.sequence_name;
      v_last_ids := v_last_ids || v_last;
      v_highest_ids := v_highest_ids || v_highest;
    exception when undefined_table then
      null; -- a migration of the job queue has dropped it meanwhile
    end;
  end loop;
  return query
    select l.name, l.last_id, max(l.highest_id)
    from unnest(v_names, v_last_ids, v_highest_ids) as l (name, last_id, highest_id)
    group by l.name, l.last_id
    having max(l.highest_id) > l.last_id
    order by l.name;
end
$$;

comment on function core.lagging_sequences() is
  'The sequences of exchange_owner that stand below an id of their tables, with the last id that '
  'each gave out and the highest id that there is. No row on a sound database. Logical replication '
  'carries no sequences: a copy has them all here until core.set_sequences() has run.';
