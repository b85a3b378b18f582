import type { Pool } from "pg";
import { relationsOf } from "../../../src/graphql/relations.ts";
import { randomFrom } from "../random.ts";

/** A view whose rows are made up. */
export interface StandIn {
  view: string;
  columns: string[];
  /** The columns that tell one row from another. */
  key: string[];
}

interface Column {
  name: string;
  type: string;
  /** Its pg_type.typcategory; of a domain that of the type below. */
  category: string;
}

/**
 * Puts a table in place of each view of a schema. It has so many rows, or as many as its key can
 * tell apart. All columns but those of keys have equal values and, where they may, nulls: a short history
 * has them in few.
 */
export async function standInForViews(
  pool: Pool,
  schema: "analytics" | "admin",
  rows: number,
): Promise<StandIn[]> {
  const { rows: views } = await pool.query<{ view: string; columns: Column[] }>(
    `select c.relname as view, json_agg(
       json_build_object('name', a.attname, 'type', a.atttypid::regtype, 'category', t.typcategory)
       order by a.attnum
     ) as columns
     from pg_catalog.pg_class as c
     join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
     join pg_catalog.pg_type as t on t.oid = a.atttypid
     where c.relnamespace = $1::regnamespace and c.relkind = 'v'
     group by c.relname order by c.relname`,
    [schema],
  );
  const described = relationsOf(schema, new Set(views.map(({ view }) => view)));
  const { between } = randomFrom(`stand-ins of ${schema}`);
  const standIns = `stand_ins_of_${schema}`;
  await pool.query(`create schema ${standIns}; grant usage on schema ${standIns} to public`);
  return await Promise.all(
    views.map(async ({ view, columns }) => {
      const { tags, attribute } = described[`${schema}.${view}`]!;
      const { primaryKey = "", unique } = tags;
      const key = primaryKey.split(",");
      const values = columns.map(({ name, type, category }) => {
        if (name === unique) return valueOf(category, type, "row");
        if (key.includes(name)) return valueOf(category, type, partOfKey(key, name));
        const number = `(hashint8extended(row, ${between(1, 1_000_000)}) & 3)::int`;
        if (name in attribute) return valueOf(category, type, number);
        return `case when ${number} < 3 then ${valueOf(category, type, number)} end`;
      });
      const names = columns.map(({ name }) => name);
      await pool.query(`
        create table ${standIns}.${view} as select * from ${schema}.${view} limit 0;
        alter table ${standIns}.${view} add primary key (${primaryKey});
        insert into ${standIns}.${view} select ${values.join(", ")}
          from generate_series(0, ${rows - 1}) as row
          order by hashint8extended(row, ${between(1, 1_000_000)})
          on conflict do nothing;
        grant select on ${standIns}.${view} to public;
        create or replace view ${schema}.${view} as
          select ${names.join(", ")} from ${standIns}.${view};`);
      return { view, columns: names, key };
    }),
  );
}

/** The binary digits of the row's number, the last for the last column, what is left for the first. */
function partOfKey(key: string[], name: string): string {
  const digits = key.length - 1 - key.indexOf(name);
  return key[0] === name ? `(row >> ${digits})` : `((row >> ${digits}) & 1)`;
}

/** A value of the type for the number that an expression has. */
function valueOf(category: string, type: string, number: string): string {
  switch (type) {
    case "uuid":
      return `lpad(${number}::text, 32, '0')::uuid`;
    case "jsonb":
      return `jsonb_build_object('n', ${number})`;
    case "date":
      return `date '2030-01-01' + ${number}`;
    case "numeric":
    case "double precision":
      return `(${number} + 1)::${type} / 3`;
  }
  switch (category) {
    case "A":
      return `array[${number}::text]::${type}`;
    case "B":
      return `${number} % 2 = 1`;
    case "D":
      // Of one millisecond: a cursor that rounds would lose some.
      return `timestamptz '2030-01-01 12:00:00.000001Z' + ${number} * interval '1 microsecond'`;
    case "E":
      return `(enum_range(null::${type}))[1 + ${number} % cardinality(enum_range(null::${type}))]`;
    case "I":
      return `inet '10.0.0.0' + ${number}`;
    case "T":
      return `${number} * interval '1 day'`;
    default:
      return `(${number} + 1)::text::${type}`;
  }
}
