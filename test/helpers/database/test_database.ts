import type { TestFn } from "ava";
import pg from "pg";
import type { Pool, PoolClient, QueryConfig } from "pg";
import { makePool } from "../../../src/database/pools.ts";
import type { DatabaseRole } from "../../../src/database/pools.ts";
import { databaseTypes } from "../../../src/database/types.ts";
import { singleFlight } from "../../../src/single_flight.ts";
import { testClock } from "./test_clock.ts";
import type { TestClock } from "./test_clock.ts";
import { until } from "../until.ts";

/** A database of one test file's own. Usable from the first `before` hook on. */
export interface TestDatabase {
  /** As the login that owns everything. */
  readonly pool: Pool;
  readonly connectionString: string;
  readonly clock: TestClock;
  /** A new pool whose sessions act as the role; ended with the database. */
  connectAs: (role: DatabaseRole, options?: { max?: number; lockTimeoutMs?: number }) => Pool;
  /** Runs `work` in a transaction that is rolled back, as the login or as a role. */
  withRollback: <T>(work: (client: PoolClient) => Promise<T>, role?: DatabaseRole) => Promise<T>;
}

export interface TestDatabaseOptions {
  /** Without the schema: for tests that build it themselves. */
  empty?: boolean;
  /** Whether users, markets and events get ids in a random order: see shuffled_ids.ts. */
  shuffled?: boolean;
}

let made = 0;

/**
 * Gives the test file a clone of the schema, to be called once at its top:
 *
 *     const database = testDatabase(test);
 *     test("...", async (t) => { await database.pool.query(...) });
 */
export function testDatabase(test: TestFn, options: TestDatabaseOptions = {}): TestDatabase {
  let database: OwnDatabase | undefined;
  test.before("make the database", async () => {
    database = await createDatabase(options);
  });
  test.after.always("drop the database", async () => {
    await database?.drop();
  });
  const own = () => {
    if (!database) throw new Error("The database is there from the first hook on, not earlier");
    return database;
  };
  return {
    get pool() {
      return own().pool;
    },
    get connectionString() {
      return own().connectionString;
    },
    get clock() {
      return testClock(own().pool);
    },
    connectAs: (role, poolOptions) => own().connectAs(role, poolOptions),
    withRollback: (work, role) => withRollback(own().pool, work, role),
  };
}

export interface OwnDatabase {
  pool: Pool;
  connectionString: string;
  connectAs: TestDatabase["connectAs"];
  drop: () => Promise<void>;
}

/** Makes a database that the caller drops. */
export async function createDatabase(options: TestDatabaseOptions = {}): Promise<OwnDatabase> {
  made += 1;
  const unique = `${process.pid}_${Math.random().toString(36).slice(2, 8)}_${made}`;
  const name = `${environment("TEST_DATABASE_PREFIX")}_${unique}`;
  const schema = options.shuffled ? "TEST_SHUFFLED_TEMPLATE" : "TEST_TEMPLATE";
  const template = options.empty ? "template0" : environment(schema);
  await onCluster(`create database ${name} template ${template} strategy file_copy`);

  const url = connectionStringFor(name);
  const pools: Pool[] = [];
  const open = (role?: DatabaseRole, { max = 5, lockTimeoutMs = 0 } = {}) => {
    const pool = makePool({
      connectionString: url,
      applicationName: "pgmarkets test",
      max,
      lockTimeoutMs,
      // Beside other tests a connection may take long, and a worker that gets none ends.
      connectionTimeoutMs: 60_000,
      ...(role && { role }),
    });
    pool.query = keepSessions(pool);
    // Hooks at the end of a file run at once: servers end their pools while the database is dropped.
    const end = pool.end.bind<() => Promise<void>>(pool);
    pool.end = singleFlight(async () => {
      // Who still waits for a session would wait for ever.
      await until("nobody waits for a session", async () => pool.waitingCount === 0);
      await end();
    }, Infinity);
    pools.push(pool);
    return pool;
  };
  return {
    pool: open(),
    connectionString: url,
    connectAs: open,
    drop: async () => {
      await Promise.all(pools.map((pool) => pool.end()));
      await onCluster(`drop database if exists ${name} with (force)`);
    },
  };
}

/**
 * A pool's own `query` ends the session in which a statement failed. Tests have thousands of such
 * statements, and a session costs far more. A session that was lost ends here, too.
 */
function keepSessions(pool: Pool): Pool["query"] {
  const query = (text: string | QueryConfig, values?: unknown[]) =>
    withClient(pool, (client) => client.query(text, values));
  return query as Pool["query"];
}

/** Runs `work` in a transaction that is rolled back, also after an error. */
export async function withRollback<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  role?: DatabaseRole,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    if (role) await client.query(`set local role ${role}`);
    return await work(client);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** Works on a session of the pool. */
export async function withClient<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

/** The test cluster's address of one database. */
export function connectionStringFor(name: string): string {
  return replaceDatabase(environment("TEST_CLUSTER_URL"), name);
}

/** The same address with another database name. */
export function replaceDatabase(url: string, name: string): string {
  return url.replace(/^([a-z]+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`);
}

async function onCluster(statement: string): Promise<void> {
  const client = new pg.Client({
    connectionString: environment("TEST_CLUSTER_URL"),
    types: databaseTypes,
  });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the tests by npm test`);
  return value;
}
