-- One query for all columns: each is planned, and its highest id is at the end of an index.
create or replace function core.lagging_sequences()
returns table (sequence_name text, last_id bigint, highest_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns text;
begin
  select string_agg(
    format(
      'select %L, q.last_value - (not q.is_called)::int, (select max(t.%I) from %s as t) '
      'from %s as q',
      c.sequence_id, c.column_name, c.table_id, c.sequence_id
    ),
    ' union all '
  ) into v_columns
  from (
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
  ) as c;
  return query execute format(
    'select x.name, x.last_id, max(x.id) from (%s) as x (name, last_id, id) '
    'group by x.name, x.last_id having max(x.id) > x.last_id order by x.name',
    v_columns
  );
end
$$;

comment on function core.lagging_sequences() is
  'The sequences of exchange_owner that stand below an id of their tables, with the last id that '
  'each gave out and the highest id that there is. No row on a sound database. Logical replication '
  'carries no sequences: a copy has them all here until core.set_sequences() has run.';
