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
with schemas as (
  select oid, nspname, nspowner, nspacl
  from pg_namespace
  where nspname !~ '^pg_' and nspname not in ('information_schema', 'graphile_migrate')
    -- Another library keeps these up to date by itself.
    and nspname <> 'graphile_worker'
),
of_extensions as (
  select classid, objid from pg_depend where deptype = 'e'
),
relations as (
  select c.*, n.nspname, format('%I.%I', n.nspname, c.relname) as name
  from pg_class c
  join schemas n on n.oid = c.relnamespace
  where ('pg_class'::regclass, c.oid) not in (select classid, objid from of_extensions)
),
functions as (
  select p.*, p.oid::regprocedure::text as name
  from pg_proc p
  join schemas n on n.oid = p.pronamespace
  where ('pg_proc'::regclass, p.oid) not in (select classid, objid from of_extensions)
),
types as (
  select t.*, format('%I.%I', n.nspname, t.typname) as name
  from pg_type t
  join schemas n on n.oid = t.typnamespace
  where ('pg_type'::regclass, t.oid) not in (select classid, objid from of_extensions)
    and t.typcategory <> 'A'
),
acls (kind, name, acl) as (
  select 'schema', nspname::text, coalesce(nspacl, acldefault('n', nspowner)) from schemas
  union all
  select 'relation', name,
    coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
  from relations where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  union all
  select 'column', format('%s.%I', name, attname), attacl
  from relations join pg_attribute on attrelid = relations.oid
  where attacl is not null and attnum > 0
  union all
  select 'function', name, coalesce(proacl, acldefault('f', proowner)) from functions
  union all
  select 'type', name, coalesce(typacl, acldefault('T', typowner)) from types
),
lines (kind, name, definition) as (
  select 'schema', nspname::text, 'owner ' || nspowner::regrole from schemas
  union all
  select 'extension', extname::text, 'schema ' || extnamespace::regnamespace
  from pg_extension
  union all
  select 'acl', format('%s %s', acls.kind, acls.name),
    format('%s may %s%s, by %s',
      case grantee when 0 then 'public' else grantee::regrole::text end,
      string_agg(privilege_type, ', ' order by privilege_type),
      case when is_grantable then ' and grant it' end, grantor::regrole)
  from acls, aclexplode(acls.acl)
  group by acls.kind, acls.name, grantee, grantor, is_grantable
  union all
  select 'default acl', coalesce(n.nspname, 'any schema')::text,
    format('%s %s %s', defaclrole::regrole, defaclobjtype, defaclacl)
  from pg_default_acl left join schemas n on n.oid = defaclnamespace
  union all
  select 'type', name, format('%s owner %s %s', typtype, typowner::regrole, case typtype
    when 'e' then (
      select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder)
      from pg_enum where enumtypid = types.oid)
    when 'd' then format('%s %s default %s checks %s', format_type(typbasetype, typtypmod),
      case when typnotnull then 'not null' end, typdefault, (
        select string_agg(conname || ' ' || pg_get_constraintdef(c.oid), ', ' order by conname)
        from pg_constraint c where contypid = types.oid))
    when 'c' then (
      select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', '
        order by attnum)
      from pg_attribute where attrelid = typrelid and attnum > 0 and not attisdropped
        and exists (select from pg_class where oid = typrelid and relkind = 'c'))
    end)
  from types
  union all
  select 'relation', name, format('%s owner %s persistence %s options %s rls %s/%s partition %s of %s',
    relkind, relowner::regrole, relpersistence,
    (select string_agg(option, ', ' order by option) from unnest(reloptions) option),
    relrowsecurity, relforcerowsecurity, pg_get_expr(relpartbound, relations.oid),
    (select inhparent::regclass from pg_inherits where inhrelid = relations.oid))
  from relations where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  union all
  select 'column', format('%s.%I', relations.name, attname), format(
    '%s collation %s %s default %s identity %s generated %s storage %s statistics %s',
    format_type(atttypid, atttypmod),
    (select collname from pg_collation where oid = attcollation),
    case when attnotnull then 'not null' end, pg_get_expr(adbin, adrelid),
    attidentity, attgenerated, attstorage, attstattarget)
  from relations
  join pg_attribute on attrelid = relations.oid and attnum > 0 and not attisdropped
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where relkind in ('r', 'p', 'v', 'm', 'f')
  union all
  select 'constraint', format('%s.%I', relations.name, conname), pg_get_constraintdef(c.oid)
  from relations join pg_constraint c on conrelid = relations.oid
  union all
  select 'index', format('%I', indexrelid::regclass), format('%s options %s clustered %s',
    pg_get_indexdef(indexrelid), (select reloptions from pg_class where oid = indexrelid),
    indisclustered)
  from relations join pg_index on indrelid = relations.oid
  union all
  select 'view', name, pg_get_viewdef(oid) from relations where relkind in ('v', 'm')
  union all
  select 'sequence', name, format('%s start %s by %s min %s max %s cache %s cycle %s',
    format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle)
  from relations join pg_sequence on seqrelid = relations.oid
  union all
  select 'trigger', format('%s.%I', relations.name, tgname),
    format('%s enabled %s', pg_get_triggerdef(t.oid), tgenabled)
  from relations join pg_trigger t on tgrelid = relations.oid and not tgisinternal
  union all
  select 'policy', format('%s.%I', relations.name, polname), format('%s %s %s using %s check %s',
    polcmd, polpermissive, polroles::regrole[], pg_get_expr(polqual, polrelid),
    pg_get_expr(polwithcheck, polrelid))
  from relations join pg_policy on polrelid = relations.oid
  union all
  select 'rule', format('%s.%I', relations.name, rulename), pg_get_ruledef(r.oid)
  from relations join pg_rewrite r on ev_class = relations.oid and rulename <> '_RETURN'
  union all
  select 'statistics', format('%s.%I', stxnamespace::regnamespace, stxname),
    pg_get_statisticsobjdef(s.oid)
  from schemas join pg_statistic_ext s on stxnamespace = schemas.oid
  union all
  select 'function', name, format('owner %s %s', proowner::regrole,
    case when prokind = 'a' then (
      select format('%s %s %s', aggtransfn, aggfinalfn, agginitval)
      from pg_aggregate where aggfnoid = functions.oid)
    else pg_get_functiondef(functions.oid) end)
  from functions
  union all
  select 'comment', pg_describe_object(classoid, objoid, objsubid), description
  from pg_description
  where (classoid, objoid) in (
    select 'pg_namespace'::regclass::oid, oid from schemas
    union all select 'pg_class'::regclass, oid from relations
    union all select 'pg_proc'::regclass, oid from functions
    union all select 'pg_type'::regclass, oid from types
    union all select 'pg_constraint'::regclass, c.oid
      from pg_constraint c join relations on conrelid = relations.oid
    union all select 'pg_trigger'::regclass, t.oid
      from pg_trigger t join relations on tgrelid = relations.oid
  )
)
select kind, name, coalesce(definition, '') as definition from lines
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
      and nspname !~ '^(pg_|information_schema$|graphile_)'
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
