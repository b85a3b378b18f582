import type { ClientBase, Pool } from "pg";

/**
 * Everything that makes up the schema of a database, as lines of text in a fixed order: two
 * databases with the same lines behave the same. Left out are what PostgreSQL brings itself and
 * the migration runner's own records.
 */
export async function schemaFingerprint(database: Pool | ClientBase): Promise<string[]> {
  const { rows } = await database.query(catalogLines);
  const lines = rows.map(({ kind, name, definition }) => `${kind} ${name}: ${definition}`);
  return [...lines, ...(await seedLines(database))];
}

const catalogLines = `
select kind, name, coalesce(definition, '') as definition
from (
  select * from installer.schema_objects()
  union all
  select 'extension', extname::text, 'schema ' || extnamespace::regnamespace
  from pg_extension
  union all
  select 'default acl', coalesce(n.nspname, 'any schema')::text,
    format('%s %s %s', defaclrole::regrole, defaclobjtype, defaclacl)
  from pg_default_acl left join pg_namespace n on n.oid = defaclnamespace
  union all
  select 'comment', object, description
  from pg_description
  cross join pg_describe_object(classoid, objoid, objsubid) as object
  where objoid >= 16384 and object !~ 'graphile_'
) as lines
order by kind, name, definition`;

/**
 * The rows that the schema itself brings, without the columns that are made up at the time of
 * writing: identities, and defaults that call a function.
 */
async function seedLines(database: Pool | ClientBase): Promise<string[]> {
  const { rows: tables } = await database.query(`
    select c.oid::regclass::text as table_name,
      string_agg(format('%I', attname), ', ' order by attname) as columns
    from pg_class c
    join pg_namespace n on n.oid = relnamespace
    join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = c.oid and adnum = attnum
    where relkind in ('r', 'p') and not relispartition
      and nspname !~ '^(pg_|information_schema$|graphile_|installer$)'
      and attidentity = '' and coalesce(pg_get_expr(adbin, adrelid), '') not like '%(%'
    group by c.oid
    order by table_name`);
  const lines: string[] = [];
  for (const { table_name: name, columns } of tables) {
    const { rows } = await database.query(
      `select to_json(seed)::text as row from (select ${columns} from ${name}) seed order by 1`,
    );
    lines.push(...rows.map(({ row }) => `row ${name}: ${row}`));
  }
  return lines;
}
