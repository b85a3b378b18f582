import test from "ava";
import { findPrivilegeWarnings } from "../../src/database/privileges.ts";
import { createDatabase, withClient } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { createExchange } from "../helpers/exchange/test_exchange.ts";
import { makeLogin } from "../helpers/database/logins.ts";
import type { Login } from "../helpers/database/logins.ts";
import { buy, placeOrders } from "../helpers/exchange/orders.ts";
import { readText } from "../helpers/repository.ts";
import { buildSchema } from "../helpers/database/schema.ts";

/** What the migration and migrate/lock_down.sql revoke from PUBLIC, and the report of the rest. */

const DENIED = "42501";

const undo: (() => Promise<void>)[] = [];
test.afterEach.always("undo", async () => {
  for (const drop of undo.splice(0).reverse()) await drop();
});

async function emptyDatabase(): Promise<OwnDatabase> {
  const database = await createDatabase({ empty: true });
  undo.push(database.drop);
  return database;
}

async function loginOn({ pool, connectionString }: OwnDatabase, roles: string[]): Promise<Login> {
  const login = await makeLogin(pool, connectionString, roles);
  undo.push(login.drop);
  return login;
}

const doorsOf = async (database: OwnDatabase) =>
  (await findPrivilegeWarnings(database.pool)).map(({ name }) => name);

async function build(database: OwnDatabase): Promise<void> {
  const client = await database.pool.connect();
  try {
    await buildSchema(client);
  } finally {
    client.release();
  }
}

test.serial(
  "the migration closes the database to logins of others, and to temporary objects",
  async (t) => {
    const database = await emptyDatabase();
    t.deepEqual(await doorsOf(database), ["temporary_objects", "connections", "not_locked_down"]);
    await build(database);
    t.deepEqual(await doorsOf(database), ["not_locked_down"]);

    const stranger = await loginOn(database, []);
    await t.throwsAsync(stranger.connect(), {
      code: DENIED,
      message: /^permission denied for database/,
    });
    for (const role of ["owner", "api", "worker", "operator", "analyst"]) {
      const login = await loginOn(database, [`exchange_${role}`]);
      const client = await login.connect();
      await t.throwsAsync(client.query("create temp table mine ()"), { code: DENIED }, role);
    }
  },
);

test.serial(
  "a login that does not own the database migrates it, and remaining privileges are found",
  async (t) => {
    const database = await emptyDatabase();
    const login = await loginOn(database, ["exchange_owner"]);
    await database.pool.query(`do $$ begin
    execute format('grant create on database %I to ${login.name}', current_database());
  end $$`);
    const client = await login.connect();
    await buildSchema(client);
    const doors = await findPrivilegeWarnings(client);
    t.deepEqual(
      doors.map(({ name }) => name),
      ["temporary_objects", "connections", "not_locked_down"],
    );
    const { rows } = await client.query("select current_database() as name");
    t.true(doors[0]!.message.endsWith(`revoke temporary on database ${rows[0].name} from public`));
    // The statement that the message gives is what it takes.
    await database.pool.query(/revoke .*$/.exec(doors[0]!.message)![0]);
    t.deepEqual(await doorsOf(database), ["connections", "not_locked_down"]);
  },
);

for (const right of ["login", "superuser", "createrole", "createdb", "bypassrls", "replication"]) {
  test.serial(`the migration refuses a role of ours that has ${right}`, async (t) => {
    const database = await emptyDatabase();
    const client = await database.pool.connect();
    try {
      // In a transaction that is rolled back: the roles belong to all tests.
      await client.query("begin");
      await client.query(`alter role exchange_analyst ${right}`);
      const [door] = await findPrivilegeWarnings(client);
      t.is(door?.name, "strong_roles");
      t.regex(door!.message, /: exchange_analyst\./);
      await t.throwsAsync(client.query(readText("db/roles.sql")), {
        code: "0LP01",
        message: new RegExp(`rights that it must not have: exchange_analyst has ${right}$`, "i"),
      });
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
}

test.serial("the migration refuses a role of ours that is a member of another", async (t) => {
  const database = await emptyDatabase();
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    await client.query("grant pg_read_all_data to exchange_api");
    t.is((await findPrivilegeWarnings(client))[0]?.name, "strong_roles");
    await t.throwsAsync(client.query(readText("db/roles.sql")), {
      code: "0LP01",
      message: /exchange_api is a member of pg_read_all_data$/,
    });
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test.serial(
  "a database that is locked down still trades, and its logins can do no harm",
  async (t) => {
    t.timeout(60_000);
    const exchange = await createExchange();
    const { database, makeMarket, makeTrader } = exchange;
    undo.push(database.drop);
    await database.pool.query("grant create on schema public to public");
    const script = readText("migrate/lock_down.sql");
    await database.pool.query(script);
    // It may be run again.
    await database.pool.query(script);
    t.deepEqual(await doorsOf(database), []);

    for (const role of [
      "exchange_api",
      "exchange_worker",
      "exchange_operator",
      "exchange_analyst",
    ]) {
      const login = await loginOn(database, [role]);
      const client = await login.connect();
      for (const statement of [
        "select pg_advisory_lock((29037::bigint << 44) | 1)",
        "select pg_advisory_lock_shared(1)",
        "select pg_advisory_xact_lock(1, 2)",
        "select pg_try_advisory_lock(1)",
        "select pg_try_advisory_xact_lock_shared(1)",
        "select lo_create(0)",
        "select lo_from_bytea(0, 'x')",
        "select pg_logical_emit_message(false, 'x', 'x')",
        "create temp table mine ()",
        "create table public.mine ()",
      ]) {
        await t.throwsAsync(client.query(statement), { code: DENIED }, `${role}: ${statement}`);
      }
      // What others run can't be read.
      const { rows } = await client.query(
        `select count(*) as count from pg_stat_activity
       where datname = current_database() and usename <> session_user
         and query <> '<insufficient privilege>'`,
      );
      t.is(rows[0].count, 0, role);
    }

    // Each role's own login does its work, by functions that take these locks.
    const [ann, bob, market] = [await makeTrader(), await makeTrader(), await makeMarket()];
    const api = await (await loginOn(database, ["exchange_api"])).connect();
    const place = async (userId: string, order: object) =>
      (await placeOrders(api, [{ marketId: market, userId, ...order } as never]))[0]!.code;
    t.is(await place(ann, buy("yes", 10, 40)), null);
    t.is(await place(bob, buy("no", 10, 60)), null);
    while ((await api.query("select api.relay_outbox() as count")).rows[0].count > 0);
    // Two changes of the market, and one fill of a maker.
    t.is((await api.query("select count(*) as count from api.follow_events(0)")).rows[0].count, 3);
    const worker = await (await loginOn(database, ["exchange_worker"])).connect();
    for (const job of ["archive_orders()", "verify_ledger()"]) {
      t.is((await worker.query(`select jobs.${job} as count`)).rows[0].count, 0, job);
    }
    for (const job of ["release_orders", "expire_orders", "close_markets"]) {
      const done = `select jobs.${job}(market_id => 0) as count`;
      t.is((await worker.query(done)).rows[0].count, 0, job);
    }
    const operator = await (await loginOn(database, ["exchange_operator"])).connect();
    await operator.query("select admin.resolve_market(market_id => $1, outcome => 'yes')", [
      market,
    ]);
    t.deepEqual((await operator.query("select * from ledger.verify()")).rows, []);
    const analyst = await (await loginOn(database, ["exchange_analyst"])).connect();
    t.is((await analyst.query("select count(*) as count from analytics.trades")).rows[0].count, 1);
    // Migrations take a lock of their own.
    const owner = await (await loginOn(database, ["exchange_owner"])).connect();
    await t.notThrowsAsync(owner.query("select pg_advisory_lock(1), pg_try_advisory_lock(2)"));
  },
);

test.serial("the lock-down opens no database that was closed to logins of others", async (t) => {
  const database = await emptyDatabase();
  await build(database);
  const other = await loginOn(database, ["exchange_api"]);
  // As where two exchanges share a cluster, and so its roles.
  await database.pool.query(`do $$ begin
    execute format(
      'revoke connect on database %I from exchange_owner, exchange_api, exchange_worker, '
      'exchange_operator, exchange_analyst', current_database());
  end $$`);
  await database.pool.query(readText("migrate/lock_down.sql"));
  t.deepEqual(await doorsOf(database), []);
  await t.throwsAsync(other.connect(), { code: DENIED });
});

test.serial("each right that the lock-down takes is missed where it is left", async (t) => {
  const database = await emptyDatabase();
  await build(database);
  const readRights = async (): Promise<Map<string, string>> => {
    const { rows } = await database.pool.query(
      `select oid::regprocedure::text as name, coalesce(proacl::text, '') as rights from pg_proc
       where pronamespace = 'pg_catalog'::regnamespace`,
    );
    return new Map(rows.map(({ name, rights }) => [name, rights]));
  };
  const before = await readRights();
  await database.pool.query(readText("migrate/lock_down.sql"));
  const after = await readRights();
  const taken = [...after].filter(([name, rights]) => rights !== before.get(name));
  t.true(taken.length > 20, `${taken.length}`);
  await withClient(database.pool, async (client) => {
    for (const [name] of taken) {
      await client.query("begin");
      await client.query(`grant execute on function ${name} to public`);
      const found = (await findPrivilegeWarnings(client)).map((warning) => warning.name);
      t.deepEqual(found, ["not_locked_down"], name);
      await client.query("rollback");
    }
  });
});

test.serial(
  "functions of another owner are found, as after a restore without owners",
  async (t) => {
    const database = await emptyDatabase();
    await build(database);
    await database.pool.query(readText("migrate/lock_down.sql"));
    const login = await loginOn(database, ["exchange_owner"]);
    await database.pool.query(`do $$ begin
    execute format('grant create on database %I to ${login.name}', current_database());
  end $$`);
    for (const schema of ["api", "admin", "jobs"]) {
      const { rows } = await database.pool.query(
        `select oid::regprocedure::text as name from pg_proc
       where pronamespace = '${schema}'::regnamespace and prokind = 'f' limit 1`,
      );
      await database.pool.query(`alter function ${rows[0].name} owner to ${login.name}`);
      const client = await login.connect();
      const [found, ...more] = await findPrivilegeWarnings(client);
      t.is(found?.name, "foreign_owner", schema);
      t.deepEqual(more, []);
      // The statement that the message gives is what it takes, of the login itself.
      await client.query(/reassign owned .*$/.exec(found?.message ?? "")?.[0] ?? "");
      t.deepEqual(await doorsOf(database), []);
    }
  },
);
