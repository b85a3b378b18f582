import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import type { Pool } from "pg";
import { callsOn } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { checkDatabase } from "../../src/database/readiness.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { makeCheckout } from "../helpers/processes/checkout.ts";
import type { Checkout } from "../helpers/processes/checkout.ts";
import { until } from "../helpers/until.ts";
import { runIn } from "./later_version.ts";

/** Functions and views that are put in place by a later release, beside calls and readers. */

let later: Checkout;
let database: OwnDatabase;

test.before("a later release, and a database of this one", async () => {
  [later, database] = await Promise.all([makeCheckout(), createDatabase({ empty: true })]);
  const manifest = join(later.directory, "package.json");
  const contents = JSON.parse(await readFile(manifest, "utf8"));
  await writeFile(manifest, JSON.stringify({ ...contents, version: "99.0.0" }));
  await migrateDatabase(database.connectionString);
});
test.after.always("drop both", async () => {
  await later.destroy();
  await database.drop();
});

const install = () =>
  runIn(later.directory, "src/bin/migrate.ts", [], { DATABASE_URL: database.connectionString });

const at = (path: string) => join(later.directory, "db", path);

const change = async (path: string, find: string, put: string): Promise<void> => {
  const text = await readFile(at(path), "utf8");
  if (!text.includes(find)) throw new Error(`${path} lacks ${find}`);
  await writeFile(
    at(path),
    text.replace(find, () => put),
  );
};

/** A function and a view on it, and a type and a function of it, which only the later release has. */
const sample = async (column: string, type: string, more = ""): Promise<void> => {
  await writeFile(
    at("core/composite_types.sql"),
    `create type core.sample as (${column} ${type}${more});\n`,
  );
  await writeFile(
    at("core/functions/sample_of.sql"),
    `create or replace function core.sample_of(a core.sample) returns ${type}
language sql immutable return (a).${column};
comment on function core.sample_of(core.sample) is 'A sample.';\n`,
  );
  await writeFile(
    at("core/functions/sampled.sql"),
    `create or replace function core.sampled(n int${more && ", m int default 1"}) returns ${type}
language sql immutable return n::${type};\n`,
  );
  await writeFile(
    at("analytics/views/samples.sql"),
    `create or replace view analytics.samples as select core.sampled(7) as ${column};\n`,
  );
};

const included = ["core/composite_types", "core/functions/sample_of", "core/functions/sampled"]
  .concat("analytics/views/samples")
  .map((path) => `--!include ${path}.sql\n`)
  .join("");

const valueOf = async (pool: Pool, text: string) =>
  (await pool.query(`select (${text}) as value`)).rows[0].value;

test.serial(
  "results, arguments, columns and types change, and what is gone is dropped",
  async (t) => {
    const { pool } = database;
    await change("all.sql", "-- Grants\n", `${included}\n-- Grants\n`);
    await sample("one", "int");
    let { code, output } = await install();
    t.is(code, 0, output);
    t.regex(output, /migrated: the functions of 99\.0\.0/);
    t.is(await valueOf(pool, "select one from analytics.samples"), 7);

    await sample("other", "text", ", b int");
    ({ code, output } = await install());
    t.is(code, 0, output);
    t.is(await valueOf(pool, "select other from analytics.samples"), "7");
    const mayRead = "has_table_privilege('exchange_analyst', 'analytics.samples', 'select')";
    t.is(await valueOf(pool, mayRead), true);
    const arguments_ = `select string_agg(p.oid::regprocedure::text, ' ') from pg_proc p where proname ~ '^sample'`;
    t.is(
      await valueOf(pool, arguments_),
      "core.sample_of(core.sample) core.sampled(integer,integer)",
    );
    t.deepEqual((await pool.query("select * from installer.changed_objects()")).rows, []);

    const rows = "select string_agg(xmin::text, ' ' order by oid) from pg_proc";
    const before = await valueOf(pool, rows);
    t.regex((await install()).output, /nothing to migrate/);
    t.is(await valueOf(pool, rows), before);
    await checkDatabase(pool);
    await t.throwsAsync(migrateDatabase(database.connectionString), { message: /later than/ });

    await pool.query("create schema reports");
    await pool.query("create view reports.seven as select * from analytics.samples");
    await sample("third", "bigint");
    ({ code, output } = await install());
    t.is(code, 1);
    t.regex(output, /uses what they replace: view reports\.seven depends on [^;]*\. Drop it/);
    t.is(await valueOf(pool, "select other from reports.seven"), "7");

    await pool.query("drop schema reports cascade");
    await change("all.sql", included, "");
    ({ code, output } = await install());
    t.is(code, 0, output);
    t.is(await valueOf(pool, arguments_), null);
    t.is(await valueOf(pool, "select to_regclass('analytics.samples') is null"), true);
    for (const name of [
      "core/composite_types",
      "core/functions/sample_of",
      "core/functions/sampled",
    ])
      await rm(at(`${name}.sql`));
  },
);

test.serial("calls under way are waited for, and others go on meanwhile", async (t) => {
  await change("api/functions/get_sign_up.sql", "as $$\n", "as $$\n-- Of a later release.\n");
  const pool = database.connectAs("exchange_api", { max: 1 });
  const client = await pool.connect();
  await client.query("begin");
  await client.query(api.getSignUp.text);
  const installed = install();
  const { getSignUp } = callsOn(database.connectAs("exchange_api"), api);
  await until("the installer has begun", async () => {
    const { rowCount } = await database.pool.query(
      "select from pg_stat_activity where application_name = 'pgmarkets migrate' and query ~ 'pg_locks'",
    );
    return rowCount! > 0;
  });
  await getSignUp();
  await client.query("commit");
  client.release();
  const { code, output } = await installed;
  t.is(code, 0, output);
});

test.serial("a call that waits for the installation runs the new function", async (t) => {
  const { pool } = database;
  const calls = callsOn(database.connectAs("exchange_api", { max: 1 }), api);
  await calls.getSignUp();
  const definition = await valueOf(pool, "pg_get_functiondef('api.get_sign_up'::regproc)");
  const client = await pool.connect();
  await client.query("begin");
  await client.query("lock table installer.installations in access exclusive mode");
  const waiting: Promise<string | null> = calls.getSignUp();
  await until("the call waits", async () => {
    const { rowCount } = await pool.query(
      "select from pg_locks where not granted and relation = 'installer.installations'::regclass",
    );
    return rowCount === 1;
  });
  await client.query(
    definition.replace(/AS \$function\$[\s\S]*\$function\$/, () => "AS $$ select null::json $$"),
  );
  await client.query("commit");
  t.is(await waiting, null);
  await client.query(definition);
  client.release();
});

test.serial(
  "a view that an analyst reads is waited for by repetition; a killed run changes nothing",
  async (t) => {
    const { pool } = database;
    const path = "analytics/views/categories.sql";
    await change(path, "from ", "from -- Of a later release.\n");
    await change(path, "as\nselect", "as\nselect 1 + 1 as two,");
    const original = await valueOf(pool, "pg_get_viewdef('analytics.categories')");
    const reader = await pool.connect();
    await reader.query("begin");
    await reader.query("select from analytics.categories");
    const installed = install();
    await until("the installer waits for the view", async () => {
      const { rows } = await pool.query(
        `select pid from pg_locks
       where not granted and relation = 'analytics.categories'::regclass`,
      );
      for (const { pid } of rows) await pool.query("select pg_terminate_backend($1)", [pid]);
      return rows.length > 0;
    });
    t.is((await installed).code, 1);
    t.is(await valueOf(pool, "pg_get_viewdef('analytics.categories')"), original);

    const again = install();
    await until("it waits again", async () => {
      const { rowCount } = await pool.query(
        "select from pg_locks where not granted and relation = 'analytics.categories'::regclass",
      );
      return rowCount! > 0;
    });
    await until("it has given up for now", async () => {
      const { rowCount } = await pool.query(
        "select from pg_locks where not granted and relation = 'analytics.categories'::regclass",
      );
      return rowCount === 0;
    });
    await reader.query("commit");
    reader.release();
    const { code, output } = await again;
    t.is(code, 0, output);
    t.regex(output, /missed a lock .*, and is run again/);
    t.is(await valueOf(pool, "select max(two) from analytics.categories"), null);
  },
);
