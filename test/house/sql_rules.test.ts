import test from "ava";
import { loadModule, parsePlPgSQLSync, parseSync, scanSync } from "libpg-query";
import { testDatabase } from "../helpers/database/test_database.ts";
import { listFiles, readText } from "../helpers/repository.ts";
import { objectOf, readSchema, readSchemaFile } from "../../src/database/schema_files.ts";

/** What docs/development.md asks of SQL, asked of the catalog of a built database and of the files. */

const database = testDatabase(test);

/** Those that have a folder; that there are no others is asked of the catalog below. */
const schemas = listFiles("db").flatMap((path) => /^db\/(\w+)\/schema\.sql$/.exec(path)?.[1] ?? []);

test.before("load the parser", async () => {
  await loadModule();
});

/** Runs a query that names offenders; $1 is the list of schemas. */
async function offenders(query: string): Promise<string[]> {
  const { rows } = await database.pool.query(query, [schemas]);
  return rows.map((row) => row.name);
}

const functions = `
  select p.*, p.oid::regprocedure::text as name, nspname
  from pg_proc p join pg_namespace n on n.oid = pronamespace
  where nspname = any ($1)`;
const relations = `
  select c.*, c.oid::regclass::text as name, nspname
  from pg_class c join pg_namespace n on n.oid = relnamespace
  where nspname = any ($1)`;

test("the queries of these rules find the schema", async (t) => {
  t.true((await offenders(functions)).length > 20);
  t.true((await offenders(relations)).length > 20);
  t.true(sqlFiles.length > 20);
  const { rows } = await database.pool.query(
    `select nspname as name from pg_namespace
     where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')`,
  );
  t.deepEqual(rows.map(({ name }) => name).sort(), schemas.sort());
});

test("archived orders have the columns of orders, in their order: rows are moved as they are", async (t) => {
  const columnsOf = (table: string) =>
    offenders(`
      select format('%s %s', attname, format_type(atttypid, null)) as name
      from (${relations}) r join pg_attribute on attrelid = r.oid and attnum > 0
      where r.name = '${table}' and not attisdropped
      order by attnum`);
  const columns = await columnsOf("trading.orders");
  t.true(columns.length > 10);
  t.deepEqual(await columnsOf("trading.archived_orders"), columns);
});

test("every schema, function, table and view has a comment", async (t) => {
  const silent = await offenders(`
    select 'schema ' || nspname as name from pg_namespace
    where nspname = any ($1) and obj_description(oid, 'pg_namespace') is null
    union all
    select name from (${functions}) f where obj_description(oid, 'pg_proc') is null
    union all
    select name from (${relations}) r
    where relkind in ('r', 'p', 'v', 'm') and not relispartition
      and obj_description(oid, 'pg_class') is null`);
  t.deepEqual(silent, []);
});

test("every column of a view has a comment", async (t) => {
  const silent = await offenders(`
    select r.name || '.' || attname as name
    from (${relations}) r join pg_attribute on attrelid = r.oid and attnum > 0
    where relkind = 'v' and col_description(r.oid, attnum) is null`);
  t.deepEqual(silent, []);
});

/** Functions that the pages have a DBA call, as their owner. */
const calledByHand = listFiles("docs")
  .flatMap((path) => [...readText(path).matchAll(/\b([a-z_]+\.[a-z_]+)\(/g)])
  .map(([, name]) => `'${name!}'`);

/**
 * Functions that can be called from outside of functions: by a role, by hand, or by what a table or
 * view has.
 */
const isEntry = `
  prosecdef
  or nspname || '.' || proname in (${[...new Set(calledByHand)].join(", ")})
  or proconfig <> array['search_path=pg_catalog, pg_temp']
  or prorettype = 'trigger'::regtype
  or exists (
    select from aclexplode(coalesce(proacl, acldefault('f', proowner))) as x
    where x.grantee <> proowner
  )
  or exists (
    select from pg_depend as d
    where d.refclassid = 'pg_proc'::regclass and d.refobjid = f.oid
      and d.classid <> 'pg_proc'::regclass
  )`;
const searchesTempLast = `coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)`;

test("every function has its names resolved when it is written, or searches pg_temp last", async (t) => {
  const open = await offenders(`
    select name from (${functions}) f
    where prokind in ('f', 'p')
      and (prosqlbody is null or prosecdef or proconfig is not null)
      and not ${searchesTempLast}
      and (${isEntry})`);
  t.deepEqual(open, []);
});

test("a function that only functions call has the search path of its caller", async (t) => {
  // To set it takes as long as some statements.
  const slow = await offenders(`
    select name from (${functions}) f
    join pg_language as l on l.oid = prolang
    where l.lanname = 'plpgsql' and ${searchesTempLast} and not (${isEntry})`);
  t.deepEqual(slow, []);
});

test("no function that may be inlined reads a table with partitions", async (t) => {
  // A caller that is planned while a partition comes would not hear of it: its plan depends on a
  // table that only the inlined function names.
  const inlined = await offenders(`
    with recursive partitioned as (
      select r.oid from (${relations}) r where relkind = 'p'
      union
      select w.ev_class
      from partitioned as p
      join pg_depend as d on d.refclassid = 'pg_class'::regclass and d.refobjid = p.oid
      join pg_rewrite as w on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
    )
    select distinct name
    from (${functions}) f
    join pg_depend as d on d.classid = 'pg_proc'::regclass and d.objid = f.oid
    join partitioned as p on d.refclassid = 'pg_class'::regclass and d.refobjid = p.oid
    where proconfig is null and not prosecdef`);
  t.deepEqual(inlined, []);
});

test("no function runs a statement that it makes of text from outside", async (t) => {
  // What is made is made of names that the catalog gave, quoted by format's %I and %L.
  const makers = sqlFiles.filter(
    (path) => folderOf(path) === "functions" && /\bexecute\s+(?!function)/.test(readText(path)),
  );
  t.deepEqual(makers.toSorted(), [
    ...["db/admin/functions/carry_out.sql", "db/admin/functions/job_queue.sql"],
    ...["db/api/functions/get_metrics.sql", "db/core/functions/lagging_sequences.sql"],
    ...["db/core/functions/uuid_v7.sql", "db/jobs/functions/remove_sent_events.sql"],
    ...["db/ledger/functions/count_through.sql", "db/ledger/functions/export_blocks.sql"],
    ...["db/ledger/functions/hash_block.sql", "db/ledger/functions/hash_ranges.sql"],
    ...["db/ledger/functions/nth_unsealed_id.sql", "db/ledger/functions/unsealed_rows.sql"],
    "db/trading/events/make_event_partition.sql",
    "db/trading/write/make_archive_partition.sql",
  ]);
});

test("nothing that a login may create runs as the owner: no event trigger, rule or open default", async (t) => {
  const { rows } = await database.pool.query(
    `select 'event trigger ' || evtname as name from pg_event_trigger
     union all
     select 'rule of ' || ev_class::regclass
     from pg_rewrite join pg_class c on c.oid = ev_class
     join pg_namespace n on n.oid = c.relnamespace
     where nspname = any ($1) and rulename <> '_RETURN'`,
    [schemas],
  );
  t.deepEqual(rows, []);
});

test("PUBLIC may execute no function", async (t) => {
  const open = await offenders(`
    select name from (${functions}) f
    where exists (
      select from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0)`);
  t.deepEqual(open, []);
});

test("exchange_owner owns everything", async (t) => {
  const strays = await offenders(`
    select 'schema ' || nspname as name from pg_namespace
    where nspname = any ($1) and nspowner <> 'exchange_owner'::regrole
    union all
    select name from (${functions}) f where proowner <> 'exchange_owner'::regrole
    union all
    select name from (${relations}) r where relowner <> 'exchange_owner'::regrole
    union all
    select t.oid::regtype::text from pg_type t join pg_namespace n on n.oid = typnamespace
    where nspname = any ($1) and typowner <> 'exchange_owner'::regrole`);
  t.deepEqual(strays, []);
});

test("few functions but those for callers run with the owner's rights", async (t) => {
  const lending = await offenders(`
    select name from (${functions}) f
    where prosecdef and nspname not in ('api', 'admin', 'jobs')
      and name not in (
        'ledger.verify(boolean)', 'ledger.unsealed_rows()', 'ledger.compare_head(bigint,text)',
        'ledger.export_blocks(bigint,bigint)', 'leaderboard.verify()', 'analytics.now()',
        'trading.check_fee_moment()')`); // a trigger at the commit
  t.deepEqual(lending, []);
});

test("every table has a primary key", async (t) => {
  const without = await offenders(`
    select name from (${relations}) r
    where relkind in ('r', 'p')
      and not exists (select from pg_index where indrelid = r.oid and indisprimary)`);
  // Its partitions have one, by trading.make_archive_partition().
  t.deepEqual(without, ["trading.archived_orders"]);
});

for (const [role, schema] of [
  ["exchange_api", "api"],
  ["exchange_worker", "jobs"],
] as const) {
  test(`${role} reaches the functions of schema ${schema} and nothing else`, async (t) => {
    const reached = await offenders(`
      select 'schema ' || nspname as name from pg_namespace
      where nspname = any ($1) and nspname not in ('${schema}', 'installer')
        and has_schema_privilege('${role}', oid, 'usage, create')
      union all
      select name from (${relations}) r
      where relkind in ('r', 'p', 'v', 'm', 'f') and name <> 'installer.installations' and (
        has_table_privilege('${role}', oid,
          'select, insert, update, delete, truncate, references, trigger')
        or has_any_column_privilege('${role}', oid, 'select, insert, update, references'))
      union all
      select name from (${relations}) r
      where case when relkind = 'S'
        then has_sequence_privilege('${role}', oid, 'usage, select, update') end
      union all
      select name from (${functions}) f
      where nspname <> '${schema}' and has_function_privilege('${role}', oid, 'execute')`);
    t.deepEqual(reached, []);
  });

  test(`${role} can call every function of schema ${schema}`, async (t) => {
    const closed = await offenders(`
      select name from (${functions}) f
      where nspname = '${schema}' and not has_function_privilege('${role}', oid, 'execute')`);
    t.deepEqual(closed, []);
  });
}

// ---- the files

const allFiles = listFiles("db").filter((path) => path.endsWith(".sql"));

/** Part of a function's head, and no statement of its own. */
const isSettings = (path: string): boolean => path.startsWith("db/planner/");

const sqlFiles = allFiles.filter((path) => !isSettings(path));

test("all.sql includes every file once, and settings are used", (t) => {
  const included = listIncludes("db/all.sql");
  const once = new Set(included);
  t.deepEqual(
    included.filter((path, index) => !isSettings(path) && included.indexOf(path) !== index),
    [],
    "included twice",
  );
  t.deepEqual(
    allFiles.filter((path) => path !== "db/all.sql" && !once.has(path)),
    [],
    "not included",
  );
  t.true(readSchema().length > 0);
});

test("a function has the settings that its file includes", async (t) => {
  const including = sqlFiles.flatMap((path) => {
    const include = /^--!include (planner\/\w+\.sql)$/m.exec(readText(path))?.[1];
    return include === undefined ? [] : [{ path, settings: settingsIn(readSchemaFile(include)) }];
  });
  t.true(including.length > 20);
  for (const { path, settings } of including) {
    const name = objectOf(path.slice("db/".length));
    const { rows } = await database.pool.query<{ proconfig: string[] }>(
      "select proconfig from pg_proc where oid = $1::regproc",
      [name],
    );
    t.true(settings.length >= 4);
    t.deepEqual(
      settings.filter((setting) => !rows[0]?.proconfig.includes(setting)),
      [],
      name,
    );
  }
});

/** As the catalogue has them: name=value. */
function settingsIn(sql: string): string[] {
  return [...sql.matchAll(/\bset (\w+) = (\w+)/g)].map(([, name, value]) => `${name}=${value}`);
}

function listIncludes(path: string): string[] {
  return [...readText(path).matchAll(/^--![ \t]*include[ \t]+(.*\.sql)[ \t]*$/gm)].flatMap(
    ([, name = ""]) => [`db/${name}`, ...listIncludes(`db/${name}`)],
  );
}

/** The statements of a file, each as its kind and its parsed body. */
function statementsOf(path: string): { kind: string; body: any }[] {
  return (parseSync(readText(path)).stmts ?? []).flatMap(({ stmt }) =>
    Object.entries(stmt ?? {}).map(([kind, body]) => ({ kind, body })),
  );
}

function qualifiedName(names: any[]): string {
  return names.map((name) => name.String.sval).join(".");
}

/** What a file of a schema has, by its folder: any but these two is a room of functions. */
function folderOf(path: string): "tables" | "views" | "functions" | undefined {
  const folder = /^db\/\w+\/(\w+)\/\w+\.sql$/.exec(path)?.[1];
  if (folder === undefined || folder === "tables" || folder === "views") return folder;
  return "functions";
}

/** What a file that is named after its object may create, by its folder. */
const objectsIn: Record<string, (statement: { kind: string; body: any }) => string[]> = {
  functions: ({ kind, body }) => {
    if (kind === "CreateFunctionStmt") return [qualifiedName(body.funcname)];
    // A function that differs between versions of PostgreSQL is made by a block that asks.
    return kind === "DoStmt" ? functionsMadeBy(JSON.stringify(body)) : [];
  },
  tables: ({ kind, body }) =>
    kind === "CreateStmt" && !body.partbound
      ? [`${body.relation.schemaname}.${body.relation.relname}`]
      : [],
  views: ({ kind, body }) => {
    const relation = kind === "ViewStmt" ? body.view : body.into?.rel;
    return relation ? [`${relation.schemaname}.${relation.relname}`] : [];
  },
};

function functionsMadeBy(block: string): string[] {
  const names = [...block.matchAll(/create or replace function ([\w.]+)\(/g)];
  return [...new Set(names.map(([, name = ""]) => name))];
}

test("a file holds the one object that its path names", (t) => {
  const wrong = sqlFiles.flatMap((path) => {
    const objects = objectsIn[folderOf(path) ?? ""];
    if (!objects) return [];
    const expected = objectOf(path.slice("db/".length));
    const found = statementsOf(path).flatMap(objects);
    return found.length === 1 && found[0] === expected ? [] : [`${path}: ${found.join(", ")}`];
  });
  t.deepEqual(wrong, []);
});

test("a room of trading has at most 20 files", (t) => {
  const rooms = Map.groupBy(
    sqlFiles.filter((path) => /^db\/trading\/\w+\/\w+\.sql$/.test(path)),
    (path) => path.split("/")[2],
  );
  rooms.delete("tables");
  t.true(rooms.size > 5);
  t.deepEqual(
    [...rooms].filter(([, paths]) => paths.length > 20).map(([room]) => room),
    [],
  );
});

test("functions and tables are made in the file of their own", (t) => {
  const strays = sqlFiles.flatMap((path) => {
    const folder = folderOf(path);
    return Object.entries(objectsIn)
      .filter(([kind]) => kind !== folder)
      .flatMap(([, objects]) => statementsOf(path).flatMap(objects))
      .map((name) => `${path}: ${name}`);
  });
  t.deepEqual(strays, []);
});

test("PL/pgSQL parses", (t) => {
  const broken = sqlFiles.flatMap((path) => {
    if (!/language plpgsql|^do \$/m.test(readText(path))) return [];
    // The parser knows no types of ours: it takes them for records, and refuses to return several.
    const sql = readText(path).replace(/returns \w+\.\w+\[\]/, "returns text[]");
    try {
      parsePlPgSQLSync(sql);
      return [];
    } catch (error) {
      return [`${path}: ${String(error)}`];
    }
  });
  t.deepEqual(broken, []);
});

/** One loop over arrays that it changes in place; each function of its parts would copy them. */
const longest = "db/trading/match/match_orders.sql";

test("no function has more than 300 lines, and one more than that", (t) => {
  const long = sqlFiles.filter((path) => {
    const [, body = ""] =
      /^(create or replace function [\s\S]*?^\$\$;)/m.exec(readText(path)) ?? [];
    return body.split("\n").length > 300;
  });
  t.deepEqual(long, [longest]);
});

test("db/ drops nothing: it describes the end state", (t) => {
  const drops = sqlFiles.flatMap((path) =>
    statementsOf(path)
      .filter(({ kind }) => kind.startsWith("Drop"))
      .map(({ kind }) => `${path}: ${kind}`),
  );
  t.deepEqual(drops, []);
});

test("SQL is written in lower case, bodies of functions included", (t) => {
  const shouting = sqlFiles.flatMap((path) =>
    capitalsIn(readText(path)).map((word) => `${path}: ${word}`),
  );
  t.deepEqual(shouting, []);
});

/** Keywords and names with capitals; strings, quoted names and comments may have them. */
function capitalsIn(sql: string): string[] {
  return scanSync(sql).tokens.flatMap(({ text, tokenName, keywordKind }) => {
    const body = /^(\$\w*\$)([\s\S]*)\1$/.exec(text)?.[2];
    if (body !== undefined) return capitalsIn(body);
    const isWord = keywordKind !== 0 || tokenName === "IDENT";
    return isWord && /^[a-z_]/i.test(text) && /[A-Z]/.test(text) ? [text] : [];
  });
}

test("the search for capitals finds them", (t) => {
  t.deepEqual(capitalsIn("SELECT 'A' as \"B\" from x -- C"), ["SELECT"]);
  t.deepEqual(capitalsIn("do $$ begin IF true then Foo(); end if; end $$"), ["IF", "Foo"]);
});

test("lines of SQL have at most 100 columns, and no tab or trailing space", (t) => {
  const wrong = allFiles.flatMap((path) =>
    readText(path)
      .split("\n")
      .flatMap((line, index) =>
        line.length > 100 || line.includes("\t") || /\s$/.test(line)
          ? [`${path}:${index + 1}`]
          : [],
      ),
  );
  t.deepEqual(wrong, []);
});

test("a function with planner settings switches JIT off: before 18 its costs would enable it", async (t) => {
  const open = await offenders(`
    select name from (${functions}) f
    where exists (
        select from unnest(proconfig) setting where setting ~ '^(enable_|plan_cache_mode)')
      and not 'jit=off' = any (proconfig)`);
  t.deepEqual(open, []);
});

test("no string in a body has a backslash: its meaning depends on a setting of the session", async (t) => {
  const open = await offenders(`
    select name from (${functions}) f where prosqlbody is null and prosrc like '%\\%'`);
  t.deepEqual(open, []);
});

/** What counts in the time zone of the session, except of dates and timestamps without a zone. */
const zoned = [
  /\binterval\s*(:=|=)?\s*'[^']*(day|week|mon|year)/i,
  /\bmake_interval\([^)]*\b(days|weeks|months|years) =>/,
  /\bdate_trunc\((?!.*, 'UTC'\))/,
  /(?<!at time zone 'UTC'\))::date\b/,
  /::timestamp\b(?! at time zone 'UTC')/,
  /\bcurrent_date\b|\blocaltimestamp\b/,
];

test("days are days of UTC, or hours: those of a session may have 23 or 25", (t) => {
  const found = sqlFiles.filter((path) => zoned.some((way) => way.test(readText(path))));
  t.deepEqual(found.toSorted(), [
    "db/admin/functions/basis.sql", // a date in an argument
    "db/admin/functions/create_session.sql", // an upper bound
    ...["db/admin/views/fee_revenue.sql", "db/admin/views/unusual_losses.sql"],
    ...["db/leaderboard/functions/windows.sql", "db/trading/write/make_archive_partition.sql"],
  ]);
});
