import type { ClientBase } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";

/** Functions, views and types of the exchange's schemas, in the catalogue of a database. */

/** An object of the catalogue. */
export interface DatabaseObject {
  /** The catalogue that it is in: pg_proc, pg_class, or pg_type. */
  catalogue: string;
  oid: string;
}

/** Of pg_proc. A row that `create or replace` has written has another xmin. */
export interface FunctionRow extends DatabaseObject {
  name: string;
  xmin: string;
}

/** The functions of these schemas, but for those of extensions. */
export async function readFunctions(client: ClientBase, schemas: string[]): Promise<FunctionRow[]> {
  const { rows } = await client.query<FunctionRow>(
    `select 'pg_proc' as catalogue, p.oid::text as oid, p.xmin::text as xmin,
       n.nspname || '.' || p.proname as name
     from pg_proc as p
     join pg_namespace as n on n.oid = p.pronamespace
     where n.nspname = any ($1)
       and not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')`,
    [schemas],
  );
  return rows;
}

/** Those of the functions of before that nobody has put in place since. */
export async function findOld(
  client: ClientBase,
  schemas: string[],
  before: FunctionRow[],
): Promise<FunctionRow[]> {
  const key = ({ oid, xmin }: FunctionRow): string => `${oid} ${xmin}`;
  const known = new Set(before.map(key));
  return (await readFunctions(client, schemas)).filter((row) => known.has(key(row)));
}

/** The functions, views and composite types of these names. */
export async function findObjects(client: ClientBase, names: string[]): Promise<DatabaseObject[]> {
  const { rows } = await client.query<DatabaseObject>(
    `with named (schema, name) as (
       select split_part(x.name, '.', 1), split_part(x.name, '.', 2) from unnest($1::text[]) as x (name)
     )
     select 'pg_proc' as catalogue, p.oid::text as oid
     from named as x
     join pg_proc as p on p.proname = x.name and p.pronamespace = to_regnamespace(x.schema)
     union all
     select case c.relkind when 'c' then 'pg_type' else 'pg_class' end,
       case c.relkind when 'c' then c.reltype else c.oid end::text
     from named as x
     join pg_class as c on c.relname = x.name and c.relnamespace = to_regnamespace(x.schema)
     where c.relkind in ('v', 'm', 'c')`,
    [names],
  );
  return rows;
}

/** Those of these names that no function, view or composite type has. */
export async function findMissing(client: ClientBase, names: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select x.name
     from unnest($1::text[]) as x (name)
     where not exists (
         select
         from pg_proc as p
         join pg_namespace as n on n.oid = p.pronamespace
         where n.nspname || '.' || p.proname = x.name
       )
       and to_regclass(x.name) is null`,
    [names],
  );
  return rows.map(({ name }) => name);
}

/** The views and composite types of these schemas that have other names. */
export async function findUndeclared(
  client: ClientBase,
  schemas: string[],
  declared: string[],
): Promise<DatabaseObject[]> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     where n.nspname = any ($1) and c.relkind in ('v', 'm', 'c')
       and n.nspname || '.' || c.relname <> all ($2)
       and not exists (select from pg_depend as d where d.objid = c.oid and d.deptype = 'e')`,
    [schemas, declared],
  );
  return await findObjects(
    client,
    rows.map(({ name }) => name),
  );
}

/**
 * Drops these objects, and the functions, views and types of these schemas that depend on them. Throws
 * if anything else does: a table, or what somebody has made in a schema of their own.
 */
export async function dropObjects(
  client: ClientBase,
  schemas: string[],
  objects: DatabaseObject[],
): Promise<void> {
  if (objects.length === 0) return;
  const parameters = [
    objects.map(({ catalogue }) => catalogue),
    objects.map(({ oid }) => oid),
    schemas,
  ];
  const { rows: others } = await client.query<{ other: string; object: string }>(
    dependents,
    parameters,
  );
  if (others.length > 0) {
    const list = others.map(({ other, object }) => `${other} depends on ${object}`).join("; ");
    throw new DatabaseNotReadyError(
      `Functions and views can't be put in place, because something uses what they replace: ${list}. ` +
        "Drop it, run npm run migrate, and make it again. If it is a table of the exchange, a " +
        "migration has to change it first",
    );
  }
  const { rows } = await client.query<{ statement: string }>(statements, parameters.slice(0, 2));
  for (const { statement } of rows) await client.query(statement);
}

/** Whatever depends on the objects $1, $2, directly or not, and is not ours to make again. */
const dependents = `
  with recursive given as (
    select x.catalogue::regclass::oid as classid, x.oid as objid
    from unnest($1::text[], $2::oid[]) as x (catalogue, oid)
  ),
  found as (
    select g.classid, g.objid, g.classid as root_classid, g.objid as root_objid
    from given as g
    union
    -- The rule of a view stands for the view.
    select coalesce(c.classid, d.classid), coalesce(c.objid, d.objid), f.root_classid, f.root_objid
    from found as f
    join pg_depend as d on d.refclassid = f.classid and d.refobjid = f.objid
    left join lateral (
      select 'pg_class'::regclass::oid as classid, r.ev_class as objid
      from pg_rewrite as r
      where d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    ) as c on true
    where d.deptype in ('n', 'a', 'i')
  )
  select distinct pg_describe_object(f.classid, f.objid, 0) as other,
    pg_describe_object(f.root_classid, f.root_objid, 0) as object
  from found as f
  where not exists (
      select
      from pg_proc as p
      where f.classid = 'pg_proc'::regclass and p.oid = f.objid
        and p.pronamespace::regnamespace::text = any ($3)
    )
    and not exists (
      select
      from pg_class as c
      where f.classid = 'pg_class'::regclass and c.oid = f.objid and c.relkind in ('v', 'm', 'c')
        and c.relnamespace::regnamespace::text = any ($3)
    )
    and not exists (
      select
      from pg_type as t
      where f.classid = 'pg_type'::regclass and t.oid = f.objid
        -- The types of rows and arrays come and go with what they are of.
        and (t.typnamespace::regnamespace::text = any ($3) or t.typtype = 'c' or t.typcategory = 'A')
    )
  order by 1, 2`;

/** One may have gone with another already. */
const statements = `
  select format('drop %s if exists %s cascade',
    case p.prokind when 'a' then 'aggregate' when 'p' then 'procedure' else 'function' end,
    p.oid::regprocedure) as statement
  from unnest($1::text[], $2::oid[]) as x (catalogue, oid)
  join pg_proc as p on x.catalogue = 'pg_proc' and p.oid = x.oid
  union all
  select format('drop %s if exists %s cascade',
    case c.relkind when 'm' then 'materialized view' else 'view' end, c.oid::regclass)
  from unnest($1::text[], $2::oid[]) as x (catalogue, oid)
  join pg_class as c on x.catalogue = 'pg_class' and c.oid = x.oid
  union all
  select format('drop type if exists %s cascade', t.oid::regtype)
  from unnest($1::text[], $2::oid[]) as x (catalogue, oid)
  join pg_type as t on x.catalogue = 'pg_type' and t.oid = x.oid`;
