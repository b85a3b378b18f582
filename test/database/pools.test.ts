import test from "ava";
import { DatabaseFailure, withRetries } from "../../src/database/failures.ts";
import { makePool } from "../../src/database/pools.ts";
import { reasonToWait } from "../../src/database/wait_for_database.ts";
import { makeLogin } from "../helpers/database/logins.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

const database = testDatabase(test);

test("sessions of a pool act as its role, and resetting the role changes nothing", async (t) => {
  const pool = database.connectAs("exchange_api", { max: 1 });
  const role = async () => (await pool.query("select current_user as role")).rows[0].role;
  t.is(await role(), "exchange_api");
  await pool.query("reset role");
  t.is(await role(), "exchange_api");
});

test("42501: a pool's role can't read what the login can", async (t) => {
  await database.pool.query("select from core.settings");
  await t.throwsAsync(database.connectAs("exchange_api").query("select from core.settings"), {
    code: "42501",
  });
});

test("57014: statements are cancelled at the pool's limit", async (t) => {
  const pool = makePool({ connectionString: database.connectionString, statementTimeoutMs: 50 });
  await t.throwsAsync(pool.query("select pg_sleep(10)"), { code: "57014" });
  await pool.end();
});

test("55P03: locks are waited for no longer than the pool's limit", async (t) => {
  const pool = makePool({ connectionString: database.connectionString, lockTimeoutMs: 50 });
  await database.withRollback(async (client) => {
    await client.query("lock table core.settings in access exclusive mode");
    await t.throwsAsync(pool.query("select from core.settings"), { code: "55P03" });
  });
  await pool.end();
});

test("a connection string that would override the role is refused", (t) => {
  const connectionString = `${database.connectionString}&options=-c%20role%3Dpostgres`;
  t.throws(() => makePool({ connectionString, role: "exchange_api" }), { message: /options/ });
});

test("a pool outlives the loss of its connections", async (t) => {
  const lost: string[] = [];
  const pool = makePool({
    connectionString: database.connectionString,
    max: 1,
    logger: { warn: ({ error }: { error: { code: string } }) => lost.push(error.code) },
  });
  const { rows } = await pool.query("select pg_backend_pid() as id");
  await database.pool.query("select pg_terminate_backend($1)", [rows[0].id]);
  while (lost.length === 0) await new Promise((done) => setTimeout(done, 10));
  t.deepEqual(lost, ["57P01"]);
  t.is((await pool.query("select 1 as one")).rows[0].one, 1);
  await pool.end();
});

test("53300: a login at its connection limit is unreachable, and then goes on", async (t) => {
  const login = await makeLogin(database.pool, database.connectionString, ["exchange_api"]);
  const pool = makePool({ connectionString: login.connectionString, role: "exchange_api", max: 2 });
  const ask = () => withRetries(pool, (client) => client.query("select 1"), { attempts: 1 });
  try {
    await database.pool.query(`alter role ${login.name} connection limit 1`);
    const held = await pool.connect();
    const error = await t.throwsAsync(ask, { instanceOf: DatabaseFailure });
    t.is(error.kind, "unreachable");
    t.is(error.sqlstate, "53300");
    t.is(reasonToWait(error.cause), "database_unreachable");
    held.release();
    await t.notThrowsAsync(ask);
  } finally {
    await pool.end();
    await login.drop();
  }
});
