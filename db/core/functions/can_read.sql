create or replace function core.can_read(schema_name text, table_name text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = can_read.schema_name
      and c.relname = can_read.table_name
      and has_schema_privilege(n.oid, 'usage')
      and has_table_privilege(c.oid, 'select')
  )
$$;

comment on function core.can_read(text, text) is
  'Whether a table exists and the caller may read it. For tables of other tools (graphile-migrate, '
  'graphile-worker), which an installation may lack.';
