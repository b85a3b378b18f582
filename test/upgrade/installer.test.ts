import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import pg from "pg";
import type { Pool } from "pg";
import { callsOn } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { makePool } from "../../src/database/pools.ts";
import { checkDatabase } from "../../src/database/readiness.ts";
import { lookAtObjects } from "../../src/doctor/look_at_exchange.ts";
import { createDatabase, withClient } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { makeCheckout } from "../helpers/processes/checkout.ts";
import type { Checkout } from "../helpers/processes/checkout.ts";
import { until } from "../helpers/until.ts";
import { runIn } from "./later_version.ts";
import { OWN_LOCKS } from "../helpers/database/own_locks.ts";

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
test.serial("what was changed by hand is found, and put back", async (t) => {
  const { pool } = database;
  const changed = async () => {
    const { rows } = await pool.query("select object from installer.changed_objects()");
    return rows.map(({ object }) => object);
  };
  t.deepEqual(await changed(), []);
  await pool.query("drop function ledger.unsealed_rows() cascade");
  const found = await changed();
  t.true(found.includes("view admin.health"), found.join());
  const findings = await withClient(pool, (client) => lookAtObjects(client));
  t.regex(findings[0]!.problem, new RegExp(`^${found.length} are not as they were installed`));

  // As docs/operating/upgrade.md says.
  await pool.query("delete from installer.files");
  await pool.query(
    "insert into installer.installations (version, hash, server_version) values ('0', 'put back', 0)",
  );
  // Servers go on meanwhile.
  await checkDatabase(pool);
  await migrateDatabase(database.connectionString);
  t.deepEqual(await changed(), []);
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
    at("core/sample_types.sql"),
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

const included = ["core/sample_types", "core/functions/sample_of", "core/functions/sampled"]
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
    for (const name of ["core/sample_types", "core/functions/sample_of", "core/functions/sampled"])
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
      `select from ${OWN_LOCKS} where not granted and relation = 'installer.installations'::regclass`,
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
        `select pid from ${OWN_LOCKS}
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
        `select from ${OWN_LOCKS} where not granted and relation = 'analytics.categories'::regclass`,
      );
      return rowCount! > 0;
    });
    await until("it has given up for now", async () => {
      const { rowCount } = await pool.query(
        `select from ${OWN_LOCKS} where not granted and relation = 'analytics.categories'::regclass`,
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

/** How many deadlocks PostgreSQL has ended in the database. A session reports them when it ends. */
async function deadlocks(pool: Pool): Promise<number> {
  await until("the sessions of others have ended", async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and backend_type = 'client backend' and application_name ~ 'migrate|of deadlocks'`,
    );
    return rowCount === 0;
  });
  const counted = "select deadlocks::int from pg_stat_database where datname = current_database()";
  return await valueOf(pool, counted);
}

/** Gives a view another text, so that it is replaced. */
const changeView = (name: string) => change(`${name}.sql`, "as\nselect", "as\nselect -- Later.\n ");

test.serial("calls under way and a view that changes are no deadlock", async (t) => {
  const { pool } = database;
  const created = await pool.query(
    "select admin.create_user(email => 'a@upgrade.test', display_name => 'A', handle => 'anna') as id",
  );
  const userId: string = created.rows[0].id;
  const clients = makePool({
    connectionString: database.connectionString,
    applicationName: "of deadlocks",
    role: "exchange_api",
    max: 4,
  });
  const calls = callsOn(clients, api);
  await changeView("trading/views/orders");
  const before = await deadlocks(pool);
  const upgrade = { isOver: false };
  const traffic = Array.from({ length: 4 }, async () => {
    let answered = 0;
    for (; !upgrade.isOver; answered += 1) await calls.listOrders({ userId, status: "all" });
    return answered;
  });
  const { code, output } = await install();
  upgrade.isOver = true;
  for (const answered of await Promise.all(traffic)) t.true(answered > 0);
  await clients.end();
  t.is(code, 0, output);
  t.is(await deadlocks(pool), before);
});

test.serial("an analyst who reads one view after the other is no deadlock", async (t) => {
  const { pool } = database;
  await changeView("analytics/views/markets");
  await changeView("analytics/views/trades");
  const before = await deadlocks(pool);
  const analyst = new pg.Client({
    connectionString: database.connectionString,
    application_name: "of deadlocks",
  });
  await analyst.connect();
  await analyst.query("begin; select from analytics.trades limit 0");
  const installed = install();
  await until("the installer waits for the view", async () => {
    const { rowCount } = await pool.query(
      `select from ${OWN_LOCKS} where not granted and relation = 'analytics.trades'::regclass`,
    );
    return rowCount! > 0;
  });
  await analyst.query("select from analytics.markets limit 0");
  await analyst.query("commit");
  await analyst.end();
  const { code, output } = await installed;
  t.is(code, 0, output);
  t.regex(output, /missed a lock .*, and is run again/);
  t.is(await deadlocks(pool), before);
});
