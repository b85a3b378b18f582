import test from "ava";
import pg from "pg";
import { withRetries } from "../../src/database/failures.ts";
import { clientOfPrimary, findPrimary, splitHosts } from "../../src/database/hosts.ts";
import { createDatabase, testDatabase } from "../helpers/database/test_database.ts";
import { openWay } from "../helpers/processes/way.ts";

const database = testDatabase(test);

/** A pool ends before its connections have; these may be broken off when their database is dropped. */
function poolOf(hosts: string[], max: number): pg.Pool {
  const pool = new pg.Pool({ Client: clientOfPrimary(hosts), max });
  pool.on("error", () => undefined);
  return pool;
}

for (const [title, given, expected] of [
  ["one host", "postgres://u:p@one:5433/db?x=1", ["postgres://u:p@one:5433/db?x=1"]],
  [
    "several, some with a port",
    "postgres://u:p%40@one:5433,two,[::1]:1/db?application_name=x&target_session_attrs=read-write",
    [
      "postgres://u:p%40@one:5433/db?application_name=x",
      "postgres://u:p%40@two/db?application_name=x",
      "postgres://u:p%40@[::1]:1/db?application_name=x",
    ],
  ],
  [
    "several sockets",
    "postgresql://u@/db?host=/a,/b&port=1,2",
    ["postgresql://u@/db?host=%2Fa&port=1", "postgresql://u@/db?host=%2Fb&port=2"],
  ],
  ["no login", "postgres://one,two/db", ["postgres://one/db", "postgres://two/db"]],
  [
    "one, that must take writes",
    "postgres://one/db?target_session_attrs=primary",
    ["postgres://one/db"],
  ],
] as const) {
  test(`${title}: ${given}`, (t) => {
    t.deepEqual(splitHosts(given), [...expected]);
  });
}

test("a pool does not require sessions that can write", (t) => {
  t.throws(() => splitHosts("postgres://one,two/db?target_session_attrs=standby"), {
    message: /must be read-write or primary/,
  });
});

test("a pool passes over hosts that are away or read-only, and follows a failover", async (t) => {
  // Two databases stand for two hosts.
  const other = await createDatabase();
  const nobody = "postgres://nobody@127.0.0.1:1/nothing";
  const [one, two] = [database.connectionString, other.connectionString];
  const allowWrites = async (connectionString: string, allowed: boolean) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.query("set default_transaction_read_only = off");
    const name = client.escapeIdentifier(client.database ?? "");
    await client.query(`alter database ${name} set default_transaction_read_only = ${!allowed}`);
    await client.end();
  };
  const pool = poolOf([nobody, one, two], 2);
  const whereNow = async () =>
    await withRetries(
      pool,
      async (client) => {
        await client.query("create temporary table a_write ()");
        await client.query("drop table a_write");
        return client.database;
      },
      { repeatable: true, backoffMs: 1 },
    );
  try {
    await allowWrites(one, false);
    t.is(await whereNow(), databaseOf(two));
    await allowWrites(one, true);
    t.is(await whereNow(), databaseOf(two), "who was found good stays so");
    await allowWrites(two, false);
    await pool.query("set default_transaction_read_only = on");
    t.is(await whereNow(), databaseOf(one));
    t.is(await findPrimary(one), one);
  } finally {
    await pool.end();
    await other.drop();
  }
});

test("a process that makes a new pool for each attempt to start finds the primary", async (t) => {
  const hosts = ["postgres://nobody@127.0.0.1:3/nothing", database.connectionString];
  const attempt = async () => {
    const pool = poolOf(hosts, 1);
    try {
      return (await pool.query("select 1 as one")).rows;
    } finally {
      await pool.end();
    }
  };
  await t.throwsAsync(attempt(), { code: "ECONNREFUSED" });
  t.deepEqual(await attempt(), [{ one: 1 }]);
});

test("none of the hosts takes writes", async (t) => {
  const connectionString = "postgres://nobody@127.0.0.1:1,127.0.0.1:2/nothing";
  await t.throwsAsync(findPrimary(connectionString), { name: "DatabaseNotReadyError" });
});

function databaseOf(connectionString: string): string {
  return /\/(\w+)\?/.exec(connectionString)?.[1] ?? "";
}

test("a primary that is silent is left once another host takes writes", async (t) => {
  const databases = await Promise.all([createDatabase(), createDatabase()]);
  const [one, two] = databases.map(({ connectionString }) => connectionString) as [string, string];
  const socketOf = ({ host, port }: pg.Client) => ({ path: `${host}/.s.PGSQL.${port}` });
  const way = await openWay([socketOf(new pg.Client({ connectionString: one }))]);
  const behindWay = `postgres://postgres@127.0.0.1:${way.ports[0]!}/${databaseOf(one)}`;
  const pool = poolOf([behindWay, two], 1);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const whereNow = async () => (await pool.query("select current_database() as name")).rows[0].name;
  try {
    t.is(await whereNow(), databaseOf(one));
    way.cut();
    const began = performance.now();
    await t.throwsAsync(whereNow(), undefined, "the silent connection is cut");
    t.true(performance.now() - began < 15_000);
    t.is(await whereNow(), databaseOf(two));
  } finally {
    await pool.end();
    way.close();
    await Promise.all(databases.map((each) => each.drop()));
  }
});
