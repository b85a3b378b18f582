import { randomBytes } from "node:crypto";
import test from "ava";
import pg from "pg";
import { migrateQueue } from "../../src/database/job_queue.ts";
import { connectionStringFor, createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { asManyOf } from "../helpers/random.ts";
import { playHistory } from "./history.ts";
import type { Answers } from "./history.ts";

/**
 * The database and its logins may have settings of another application. Under each of them a
 * server and a worker do what they do without, and what a DBA calls from psql is right or refused
 * in clear words.
 */

const suffix = randomBytes(4).toString("hex");
const login = `hostile_login_${suffix}`;

interface Hostile {
  /** What is set, each on the database and on the login in it. */
  settings: Record<string, string>;
  /** The SQLSTATEs with which a DBA's call may be refused. Without any it must be right. */
  refusals?: RegExp;
  /** The first version of PostgreSQL that has it, and the last. */
  from?: number;
  until?: number;
}

const UNFIT = /^EX025$/;

// Each entry is a history of its own; settings that have nothing to do with each other share one.
const hostile: Hostile[] = [
  { settings: { default_transaction_isolation: "repeatable read" }, refusals: UNFIT },
  { settings: { default_transaction_isolation: "serializable" }, refusals: UNFIT },
  { settings: { standard_conforming_strings: "off" } },
  { settings: { row_security: "off" } },
  // Only a DBA may get an error, that it took too long.
  { settings: { statement_timeout: "5ms" }, refusals: /^57014$/ },
  { settings: { lock_timeout: "1ms" }, refusals: /^55P03$/ },
  { settings: { idle_session_timeout: "50ms" }, refusals: /^57P05$/ },
  { settings: { transaction_timeout: "100ms" }, from: 17, refusals: /^25P04$/ },
  { settings: { DateStyle: "German, DMY", TimeZone: "Asia/Tokyo" } },
  { settings: { DateStyle: "SQL, MDY", IntervalStyle: "sql_standard" } },
  { settings: { DateStyle: "Postgres, DMY", TimeZone: "America/St_Johns" } },
  { settings: { search_path: "public" } },
  { settings: { search_path: "public, pg_catalog", quote_all_identifiers: "on" } },
  { settings: { client_encoding: "LATIN1", client_min_messages: "debug1" } },
  {
    settings: {
      ...{ bytea_output: "escape", extra_float_digits: "-15", array_nulls: "off" },
      ...{ transform_null_equals: "on", xmlbinary: "hex", xmloption: "document" },
      ...{ exit_on_error: "on" },
    },
  },
  {
    settings: {
      ...{ escape_string_warning: "off", backslash_quote: "on", check_function_bodies: "off" },
      ...{ lo_compat_privileges: "on", idle_in_transaction_session_timeout: "1ms" },
      ...{ "plpgsql.variable_conflict": "use_column", "plpgsql.check_asserts": "off" },
    },
  },
  { settings: { default_transaction_deferrable: "on", synchronous_commit: "off" } },
  { settings: { jit: "on", jit_above_cost: "0" } },
  {
    settings: {
      ...{ plan_cache_mode: "force_custom_plan", enable_nestloop: "off", enable_sort: "off" },
      ...{ constraint_exclusion: "on", cursor_tuple_fraction: "1" },
    },
  },
  {
    settings: {
      ...{ enable_indexscan: "off", enable_indexonlyscan: "off", default_statistics_target: "1" },
      ...{ from_collapse_limit: "1", join_collapse_limit: "1", geqo_threshold: "2" },
      ...{ default_toast_compression: "pglz" },
    },
  },
  { settings: { work_mem: "64kB" } },
  { settings: { temp_file_limit: "0" } },
  { settings: { force_parallel_mode: "on" }, until: 15 },
  { settings: { debug_parallel_query: "on" }, from: 16 },
];

let base: OwnDatabase;
let version: number;
let expected: Answers;
let expectedCalls: [string, unknown][];

async function onCluster(statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: connectionStringFor("postgres") });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Objects that hide PostgreSQL's own from sessions that search public first. */
const decoys = `
  create function public.now() returns timestamptz language sql as $$ select 'epoch'::timestamptz $$;
  create function public.jsonb_build_object(variadic "any") returns jsonb
    language internal as 'jsonb_build_object_noargs';
  create function public.lower(text) returns text language sql as $$ select 'decoy' $$;
  create table public.jobs (id int); create table public.users (id int);
  create table public.pg_class (oid int); create table public.migrations (id int)`;

test.serial.before("a history without any such setting", async () => {
  base = await createDatabase();
  await liftRateLimits(base.pool);
  await base.pool.query(decoys);
  const client = new pg.Client({ connectionString: base.connectionString });
  await client.connect();
  await migrateQueue(client, base.connectionString);
  version = Number((await client.query("show server_version_num")).rows[0].server_version_num);
  await client.end();
  await base.pool.end();
  await onCluster(`create role ${login} login superuser`);
  await inDatabase({}, async (url) => {
    expected = await playHistory(url);
    expectedCalls = await callAsDba(url);
  });
});

test.after.always("remove them", async () => {
  await onCluster(`drop role if exists ${login}`);
  await base.drop();
});

/** A copy of the database that has the settings, by the login that has them too. */
async function inDatabase(
  settings: Record<string, string>,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const origin = new URL(base.connectionString.replace("@/", "@host/")).pathname.slice(1);
  const name = `${origin}_${randomBytes(3).toString("hex")}`;
  await onCluster(`create database ${name} template ${origin} strategy file_copy`);
  try {
    for (const [setting, value] of Object.entries(settings)) {
      const assignment = setting === "search_path" ? value : `'${value}'`;
      await onCluster(`alter database ${name} set ${setting} = ${assignment}`);
      await onCluster(`alter role ${login} in database ${name} set ${setting} = ${assignment}`);
    }
    await work(connectionStringFor(name).replace(/\/\/[^@/]*@/, `//${login}@`));
  } finally {
    await onCluster(`drop database ${name} with (force)`);
  }
}

/** Calls of docs/operating/, each in a session like psql's. */
const documented = [
  "select admin.create_category('dba', 'By hand')",
  "select admin.create_market('By hand?', 'dba')",
  "select admin.create_user('dba@x.example', 'DBA', 'dba')",
  "select admin.deposit((select user_id from admin.users where handle = 'dba'), 5000, 'dba')",
  "select admin.withdraw((select user_id from admin.users where handle = 'dba'), 500, 'dba')",
  "select admin.set_loss_limits((select user_id from admin.users where handle = 'dba'), 100, 200, null)",
  "select length(admin.create_api_key((select user_id from admin.users where handle = 'dba'), 'k'))",
  "select name from admin.list_api_keys((select user_id from admin.users where handle = 'dba'))",
  "select admin.set_trading_pause(true, 'a test')",
  "select admin.set_trading_pause(false)",
  "select admin.set_market_status((select market_id from admin.markets where title = 'By hand?'), 'closed')",
  "select admin.resolve_market((select market_id from admin.markets where title = 'By hand?'), 'yes')",
  "select admin.correct_resolution((select market_id from admin.markets where title = 'By hand?'), 'no', 'x')",
  "select admin.self_exclude((select user_id from admin.users where handle = 'dba'))",
  "select admin.refresh_leaderboard() is null as value",
  "select admin.run_due()",
  "select count(*)::int from ledger.verify()",
  "select count(*)::int from leaderboard.verify()",
];

async function callAsDba(url: string): Promise<[string, unknown][]> {
  const results: [string, unknown][] = [];
  for (const call of documented) {
    const client = new pg.Client({ connectionString: url });
    // A session that is ended while it waits for this process says why here, and to no query.
    let ended: { code?: string } | undefined;
    client.on("error", (error: Error & { code?: string }) => (ended ??= error));
    await client.connect();
    try {
      await client.query("set role exchange_operator");
      const { rows } = await client.query({ text: call, rowMode: "array" });
      const text = JSON.stringify(rows).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id");
      results.push([call, text]);
    } catch (error) {
      results.push([call, { sqlstate: (error as { code?: string }).code ?? ended?.code }]);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return results;
}

function sqlstateOf(result: unknown): string | undefined {
  return typeof result === "object" && result !== null
    ? ((result as { sqlstate?: string }).sqlstate ?? "none")
    : undefined;
}

test.serial("without hostile settings nothing is refused", (t) => {
  t.deepEqual(
    expectedCalls.filter(([, result]) => sqlstateOf(result) !== undefined),
    [],
  );
  const statuses = expected.map(([, answer]) => (Array.isArray(answer) ? answer[0] : 0));
  t.true(statuses.filter((status) => status === 201).length >= 10);
  t.deepEqual(new Map(expected).get("ledger.verify"), []);
});

for (const { settings, refusals, from = 15, until = 99 } of asManyOf(hostile)) {
  const title = Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
  test.serial(title, async (t) => {
    if (version < from * 10_000 || version >= (until + 1) * 10_000) {
      t.pass("this version does not have it");
      return;
    }
    await inDatabase(settings, async (url) => {
      const log: string[] = [];
      t.deepEqual(await playHistory(url, log), expected);
      t.deepEqual(
        log.filter((line) => line.includes('"sqlstate"')),
        [],
      );
      // A call that is refused changes what those behind it find.
      let wasRefused = false;
      (await callAsDba(url)).forEach(([call, result], index) => {
        const sqlstate = sqlstateOf(result);
        if (sqlstate !== undefined && refusals?.test(sqlstate) === true) wasRefused = true;
        else if (!wasRefused) t.deepEqual([call, result], expectedCalls[index]);
      });
    });
  });
}
