import test from "ava";
import type { ExecutionContext } from "ava";
import type { Pool } from "pg";
import { pino } from "pino";
import { asServerPools } from "../../src/database/server_pools.ts";
import { makePool } from "../../src/database/pools.ts";
import { createEndpoint } from "../../src/graphql/endpoint.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { callService } from "../helpers/http/test_service.ts";
import { offerOnly } from "../helpers/database/offer_only.ts";

/** What GraphQL holds of its connections. */

const database = testDatabase(test);
const CONNECTIONS = 4;
let pool: Pool;
let commands: Pool;
let service: RunningServer;
let key = "";

test.serial.before("serve", async () => {
  const makeOwn = () =>
    makePool({
      connectionString: database.connectionString,
      role: "exchange_operator",
      max: CONNECTIONS,
      lockTimeoutMs: 50,
    });
  [pool, commands] = [makeOwn(), makeOwn()];
  const logger = pino({ level: "silent" });
  await offerOnly(database.pool, {
    ...{ role: "exchange_operator", schema: "admin", views: ["users"] },
    functions: ["set_trading_pause", "freeze_user"],
  });
  const operators = createEndpoint({ role: "operator", logger, pool, commands });
  await operators.prepare();
  const { rows } = await database.pool.query(
    "select admin.create_staff_key('Otto', 'operator') as key",
  );
  key = rows[0].key;
  service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: false },
    logger,
    graphql: { operators },
  });
});
test.after.always("stop", async () => {
  await service.close();
});

const ask = (query: string) =>
  callService(service.url, "POST", "/admin/graphql", { key, body: { query } });

const pause = (isPaused: boolean) =>
  ask(`mutation {
    setTradingPause(input: { paused: ${isPaused}, reason: "urgent" }) { clientMutationId }
  }`);

/** Takes all connections of a pool while something else happens, which soon waits no more. */
async function withoutConnections(taken: Pool, work: () => Promise<void>): Promise<void> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => taken.connect()));
  const { connectionTimeoutMillis } = taken.options;
  taken.options.connectionTimeoutMillis = 200;
  try {
    await work();
  } finally {
    taken.options.connectionTimeoutMillis = connectionTimeoutMillis;
    for (const client of clients) client.release();
  }
}

/** The most connections that were in use at a time. */
async function mostInUse(t: ExecutionContext, query: string): Promise<number> {
  let [inUse, most] = [0, 0];
  const acquired = () => (most = Math.max(most, ++inUse));
  const released = () => inUse--;
  pool.on("acquire", acquired).on("release", released);
  const { status, body } = await ask(query);
  pool.off("acquire", acquired).off("release", released);
  t.deepEqual([status, body.errors], [200, undefined]);
  return most;
}

test.serial("a query of many lists has one connection, whatever it asks for", async (t) => {
  const lists = Array.from(
    { length: 40 },
    (_, i) => `a${i}: allUsers(offset: ${i}) { totalCount }`,
  );
  t.is(await mostInUse(t, `{ ${lists.join(" ")} }`), 1);
});

test.serial("a mutation finds a connection when queries have all of theirs", async (t) => {
  await withoutConnections(pool, async () => {
    const { status, body } = await pause(true);
    t.deepEqual([status, body.errors], [200, undefined]);
  });
  const { rows } = await database.pool.query("select is_paused from admin.trading_pause");
  t.deepEqual(rows, [{ is_paused: true }]);
});

test.serial("503 CONFLICT_RETRY: no connection was free in time", async (t) => {
  const rejected = { error: "Temporary conflict, safe to retry", code: "CONFLICT_RETRY" };
  await withoutConnections(pool, async () => {
    const { status, body, headers } = await ask("{ allUsers { totalCount } }");
    t.deepEqual([status, body], [503, rejected]);
    t.truthy(headers.get("retry-after"));
  });
  await withoutConnections(commands, async () => {
    const { status, body } = await pause(false);
    t.deepEqual([status, body], [503, rejected]);
  });
  t.is((await pause(false)).status, 200);
});

test.serial("503 CONFLICT_RETRY: a command that met a lock had no effect", async (t) => {
  const { rows } = await database.pool.query(
    "select admin.create_user('ann@test.example', 'Ann', 'ann') as id",
  );
  const { id } = rows[0];
  const freeze = () =>
    ask(`mutation { freezeUser(input: { userId: "${id}", reason: "x" }) { clientMutationId } }`);
  await database.withRollback(async (client) => {
    await client.query("select from trading.traders where public_id = $1 for update", [id]);
    const { status, body } = await freeze();
    t.deepEqual(
      [status, body],
      [503, { error: "Temporary conflict, safe to retry", code: "CONFLICT_RETRY" }],
    );
  });
  const { status, body } = await freeze();
  t.deepEqual([status, body.errors], [200, undefined]);
});
