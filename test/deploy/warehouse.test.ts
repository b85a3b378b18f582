import test from "ava";
import { createDatabase } from "../helpers/database/test_database.ts";
import { readText } from "../helpers/repository.ts";

/** The files of deploy/warehouse are complete; `npm run drill:warehouse` runs them. */

/** What analysts read of people, and the warehouse does not get. */
const OF_PEOPLE = ["risk.limit_changes", "trading.traders"];

/** The tables that views of analysts read, with the columns. */
const READ_BY_ANALYSTS = `
  with recursive reads (view_id, table_id, place) as (
    select r.ev_class, d.refobjid, d.refobjsubid
    from pg_class as v
    join pg_rewrite as r on r.ev_class = v.oid
    join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    where v.relnamespace = 'analytics'::regnamespace and d.refclassid = 'pg_class'::regclass
      and d.refobjid <> v.oid
    union
    select r.ev_class, d.refobjid, d.refobjsubid
    from reads as x
    join pg_rewrite as r on r.ev_class = x.table_id
    join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.ev_class
  )
  select distinct c.oid::regclass::text as name, a.attname as column
  from reads as x
  join pg_class as c on c.oid = x.table_id and c.relkind in ('r', 'p')
  join pg_attribute as a on a.attrelid = c.oid and a.attnum = x.place and a.attnum > 0`;

const SENT = `
  select p.pubname as publication, p.schemaname || '.' || p.tablename as name, p.attnames,
    exists (
      select from pg_trigger as t
      where t.tgrelid = (p.schemaname || '.' || p.tablename)::regclass
        and t.tgfoid = 'ledger.refuse_change'::regproc
    ) as is_append_only
  from pg_publication_tables as p`;

test("the warehouse gets what analysts read, and its login may read that only", async (t) => {
  const { pool, drop } = await createDatabase();
  try {
    const text = readText("deploy/warehouse/publish.sql");
    const { rows } = await pool.query("select current_database() as name");
    await pool.query(text.replace("on database pgmarkets", `on database ${rows[0].name}`));

    const sent = (await pool.query(SENT)).rows as {
      publication: string;
      name: string;
      attnames: string;
      is_append_only: boolean;
    }[];
    const columnsOf = new Map(sent.map(({ name, attnames }) => [name, attnames.slice(1, -1)]));
    const { rows: read } = await pool.query(READ_BY_ANALYSTS);
    t.true(read.length > 100);
    const missing = read.filter(
      ({ name, column }) => !columnsOf.get(name)?.split(",").includes(column),
    );
    t.deepEqual(
      missing.filter(({ name }) => !OF_PEOPLE.includes(name)).sort(),
      ["display_name", "handle"].map((column) => ({ name: "identity.users", column })),
    );
    const tablesRead = new Set(read.map(({ name }) => name));
    t.deepEqual(
      sent.filter(({ name }) => !tablesRead.has(name)).map(({ name }) => name),
      [],
      "nothing is sent that analysts do not read",
    );
    for (const { publication, name, is_append_only } of sent) {
      t.is(publication, is_append_only ? "pgmarkets_history" : "pgmarkets_state", name);
    }

    const { rows: readable } = await pool.query(
      `select c.oid::regclass::text as name, string_agg(a.attname, ',' order by a.attnum) as columns
       from pg_class as c
       join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relkind in ('r', 'p', 'v') and c.relnamespace::regnamespace::text !~ '^(pg_|info)'
         and has_column_privilege('markets_warehouse', c.oid, a.attnum, 'select')
       group by c.oid`,
    );
    t.deepEqual(
      Object.fromEntries(readable.map(({ name, columns }) => [name, columns])),
      Object.fromEntries(columnsOf),
    );
  } finally {
    await pool.query("drop owned by markets_warehouse");
    await pool.query("drop role markets_warehouse");
    await drop();
  }
});
