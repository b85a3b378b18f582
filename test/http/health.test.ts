import test from "ava";
import { pino } from "pino";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { startServer } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { passTime } from "../helpers/pass_time.ts";
import { until } from "../helpers/until.ts";
import { callService } from "../helpers/http/test_service.ts";

/** On a database made by the migrations, since that is what is looked at. */

let database: OwnDatabase | undefined;
let service: RunningServer | undefined;

test.before("serve a migrated database", async () => {
  database = await createDatabase({ empty: true });
  await migrateDatabase(database.connectionString);
  service = await startServer({
    connectionString: database.connectionString,
    config: { host: "127.0.0.1", port: 0, poolSize: 3, trustProxy: false, metricsPort: 0 },
    logger: pino({ level: "silent" }),
  });
});
test.after.always("stop", async () => {
  await service?.close();
  await database?.drop();
});

const ready = () => callService(service!.url, "GET", "/readyz");

/** Asked until the answer that was kept has been forgotten. */
async function becomesReady(reason: string | undefined) {
  let answer = await ready();
  await until(`the reason is ${reason ?? "none"}`, async () => {
    answer = await ready();
    return answer.body.reason === reason;
  });
  return answer;
}

test.serial("200: the database is reachable, migrated and writable", async (t) => {
  const answer = await ready();
  t.is(answer.status, 200);
  t.is(answer.body.status, "ok");
  // migrate/lock_down.sql has not been run on it.
  t.true(answer.body.warnings.includes("not_locked_down"));
  t.is(answer.headers.get("cache-control"), "no-store");
});

test.serial("503 read_only: a standby, or another database that takes no writes", async (t) => {
  const name = new URL(database!.connectionString.replace("@/", "@x/")).pathname.slice(1);
  const change = async (setting: string) => {
    await database!.pool.query(`alter database ${name} ${setting}`);
    await endSessions();
  };
  await change("set default_transaction_read_only = on");
  const answer = await becomesReady("read_only");
  t.is(answer.status, 503);
  t.deepEqual(answer.body, { status: "unavailable", reason: "read_only" });
  await database!.pool.query("set default_transaction_read_only = off");
  const writer = await database!.pool.connect();
  await writer.query("set default_transaction_read_only = off");
  await writer.query(`alter database ${name} reset default_transaction_read_only`);
  writer.release(true);
  await endSessions();
  t.is((await becomesReady(undefined)).status, 200);
});

test.serial("503 migrations_missing; migrations of a later version are ready", async (t) => {
  const { pool } = database!;
  await pool.query("create table public.kept as table graphile_migrate.migrations");
  await pool.query("delete from graphile_migrate.migrations");
  const answer = await becomesReady("migrations_missing");
  t.is(answer.status, 503);
  t.deepEqual(answer.body, { status: "unavailable", reason: "migrations_missing" });
  await pool.query("insert into graphile_migrate.migrations select * from public.kept");
  await pool.query(
    `insert into graphile_migrate.migrations (hash, previous_hash, filename, date)
     values ('sha1:later', null, '999999.sql', now())`,
  );
  t.is((await becomesReady(undefined)).status, 200);
});

test.serial(
  "503 sequences_behind: the database is a copy whose sequences are not set",
  async (t) => {
    const { pool } = database!;
    await pool.query(
      `insert into identity.users (id, email, display_name, handle)
     overriding system value values (9, 'copied@example.org', 'Copied', 'copied')`,
    );
    // Sequences that were sound are looked at again after a minute.
    passTime(60_000);
    const answer = await becomesReady("sequences_behind");
    t.is(answer.status, 503);
    t.deepEqual(answer.body, { status: "unavailable", reason: "sequences_behind" });
    const { rows } = await pool.query("select * from core.set_sequences()");
    t.deepEqual(rows, [{ sequence_name: "identity.users_id_seq", last_id: 9 }]);
    t.is((await becomesReady(undefined)).status, 200);
  },
);

test.serial("503 database_unreachable; /healthz is still 200", async (t) => {
  const { pool } = database!;
  const { rows } = await pool.query("select current_database() as name");
  const outside = await createDatabase();
  try {
    await outside.pool.query(`alter database ${rows[0].name} allow_connections false`);
    await outside.pool.query(
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1",
      [rows[0].name],
    );
    const answer = await becomesReady("database_unreachable");
    t.is(answer.status, 503);
    t.is((await callService(service!.url, "GET", "/healthz")).status, 200);
    const metrics = await callService(service!.metricsUrl!, "GET", "/metrics");
    t.is(metrics.status, 200);
    t.regex(metrics.body, /^pgmarkets_database_up 0$/m);
    t.notRegex(metrics.body, /^pgmarkets_(?:trades_total|trading_paused|database_info)\b/m);
    await outside.pool.query(`alter database ${rows[0].name} allow_connections true`);
  } finally {
    await outside.drop();
  }
  t.is((await becomesReady(undefined)).status, 200);
});

test.serial("metrics with an address of their own are served at no other", async (t) => {
  t.is((await callService(service!.url, "GET", "/metrics")).status, 404);
  t.is((await callService(service!.metricsUrl!, "GET", "/healthz")).status, 404);
  const { rows } = await database!.pool.query(
    "select max(filename) as last from graphile_migrate.migrations",
  );
  passTime(1000);
  const { body } = await callService(service!.metricsUrl!, "GET", "/metrics");
  t.regex(
    body,
    new RegExp(`^pgmarkets_database_info\\{.*schema_version="${rows[0].last}"\\} 1$`, "m"),
  );
  t.regex(body, /^pgmarkets_waiting_jobs \d+$/m);
});

async function endSessions() {
  await database!.pool.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}
