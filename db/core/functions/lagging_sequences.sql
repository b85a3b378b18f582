create or replace function core.lagging_sequences()
returns table (sequence_name text, last_id bigint, highest_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
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
    select d.objid::regclass as sequence_id, d.refobjid::regclass as table_id,
      a.attname as column_name
    from pg_catalog.pg_class as s
    join pg_catalog.pg_depend as d on d.objid = s.oid
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
      ('ledger.journal_ids'::regclass, 'ledger.posted_journals'::regclass, 'id'),
      ('ledger.journal_ids', 'trading.trades', 'id'),
      ('trading.order_ids', 'trading.active_orders', 'order_id'),
      ('trading.order_ids', 'trading.ended_orders', 'id'),
      ('trading.order_ids', 'trading.archived_orders', 'id'),
      ('trading.outbox_id_seq', 'trading.outbox_relay', 'noted_id')
  loop
    -- Each highest id is at the end of an index.
    execute format(
      'select q.last_value - (not q.is_called)::int, (select max(t.%I) from %s as t) from %s as q',
      v_column.column_name, v_column.table_id, v_column.sequence_id
    ) into v_last, v_highest;
    v_names := v_names || v_column.sequence_id::text;
    v_last_ids := v_last_ids || v_last;
    v_highest_ids := v_highest_ids || v_highest;
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
