import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import { connectionStringFor } from "../helpers/database/test_database.ts";
import { until } from "../helpers/until.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, CallOptions } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

const conflict = { error: "Temporary conflict, safe to retry", code: "CONFLICT_RETRY" };
const unavailable = { error: "Service unavailable" };
const outcomeUnknown = {
  error:
    "The outcome is unknown; retry with the same idempotency key; without one read your order " +
    "history first",
  code: "OUTCOME_UNKNOWN",
};

/** From another database of the cluster. */
async function outside(work: (client: pg.Client, name: string) => Promise<unknown>) {
  const { rows } = await service.database.pool.query("select current_database() as name");
  const client = new pg.Client({ connectionString: connectionStringFor("postgres") });
  await client.connect();
  try {
    await work(client, rows[0].name);
  } finally {
    await client.end();
  }
}

async function endSessions(client: pg.Client, name: string) {
  await client.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1",
    [name],
  );
  await delay(50); // until the pools have been told
}

function is503(t: ExecutionContext, answer: Answer, body: unknown) {
  t.is(answer.status, 503);
  t.deepEqual(answer.body, body);
  t.is(answer.headers.get("retry-after"), "1");
  t.is(answer.headers.get("cache-control"), "no-store");
}

test.serial("sessions that end while idle cause no error", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const body = { marketId, side: "yes", price: 10, quantity: 1 };
  t.is((await call("POST", "/api/v1/orders", { key, body })).status, 201);
  await outside(endSessions);
  t.is((await call("POST", "/api/v1/orders", { key, body })).status, 201);
  await outside(endSessions);
  t.is((await call("GET", `/api/v1/markets/${marketId}`)).status, 200);
});

test.serial("503: the database is out of reach; afterwards requests succeed again", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const { key: unusedKey } = await makeTrader();
  const body = { marketId, side: "yes", price: 10, quantity: 1 };
  const placed = await call("POST", "/api/v1/orders", { key, body });
  const orderPath = `/api/v1/orders/${placed.body.order.id}`;

  await outside(async (client, name) => {
    await client.query(`alter database ${name} allow_connections false`);
    await endSessions(client, name);
    try {
      is503(t, await call("GET", `/api/v1/markets/${marketId}`), unavailable);
      is503(t, await call("GET", `/api/v1/markets/${marketId}/orderbook`), unavailable);
      is503(t, await call("GET", `/api/v1/markets/${marketId}/trades`), unavailable);
      is503(t, await call("GET", "/api/v1/orders", { key }), unavailable);
      is503(t, await call("GET", orderPath, { key }), unavailable);
      is503(t, await call("POST", "/api/v1/orders", { key, body }), conflict);
      is503(t, await call("DELETE", orderPath, { key }), conflict);
      // A key that was not asked for yet is not thereby a wrong one.
      is503(t, await call("GET", "/api/v1/me", { key: unusedKey }), unavailable);
      is503(t, await call("POST", "/api/v1/orders", { key: unusedKey, body }), conflict);
      t.is((await call("GET", "/healthz")).status, 200);
      // The limits come before the shape of a request, and can't be asked for either.
      is503(t, await call("GET", "/api/v1/markets/x"), unavailable);
      t.is((await call("GET", "/api/v1/me", { key: "jk_x" })).status, 401);
      const many = Array.from({ length: 30 }, () => call("POST", "/api/v1/orders", { key, body }));
      for (const answer of await Promise.all(many)) is503(t, answer, conflict);
    } finally {
      await client.query(`alter database ${name} allow_connections true`);
    }
  });

  t.is((await call("GET", "/api/v1/me", { key: unusedKey })).status, 200);
  t.is((await call("POST", "/api/v1/orders", { key, body })).status, 201);
  t.is((await call("DELETE", orderPath, { key })).status, 200);
  const { body: orders } = await call("GET", "/api/v1/orders?status=all", { key });
  t.is(orders.meta.total, 2);
});

test.serial("503 OUTCOME_UNKNOWN: the session ends under way; the key resolves it", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const body = { marketId, side: "yes", price: 10, quantity: 1, idempotencyKey: randomUUID() };

  const callAndLoseIt = async (
    method: string,
    path: string,
    options: CallOptions,
    table = "trading.active_orders",
  ) => {
    const blocker = await service.database.pool.connect();
    await blocker.query(`begin; lock table ${table} in access exclusive mode`);
    let isAnswered = false;
    const pending = call(method, path, options).finally(() => {
      isAnswered = true;
    });
    await until("its sessions wait and are ended", async () => {
      // Not by the blocker: a transaction sees the activity as it was when it first looked.
      await service.database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return isAnswered;
    });
    const answer = await pending;
    await blocker.query("rollback");
    blocker.release();
    return answer;
  };
  is503(t, await callAndLoseIt("POST", "/api/v1/orders", { key, body }), outcomeUnknown);
  // Nor can its token be taken.
  const tables = "trading.active_orders, rate_limits.allowances";
  is503(t, await callAndLoseIt("POST", "/api/v1/orders", { key, body }, tables), outcomeUnknown);

  const retried = await call("POST", "/api/v1/orders", { key, body });
  t.is(retried.status, 201);
  const replayed = await call("POST", "/api/v1/orders", { key, body });
  t.is(replayed.status, 200);
  t.is(replayed.body.order.id, retried.body.order.id);

  const orderPath = `/api/v1/orders/${retried.body.order.id}`;
  is503(t, await callAndLoseIt("DELETE", orderPath, { key }), {
    error: "The outcome is unknown; safe to retry",
    code: "OUTCOME_UNKNOWN",
  });
  t.is((await call("DELETE", orderPath, { key })).status, 200);
  t.is((await call("DELETE", orderPath, { key })).status, 400);

  const sets = { key, body: { marketId, quantity: 1 } };
  const split = await callAndLoseIt("POST", "/api/v1/positions/split", sets, "trading.holdings");
  is503(t, split, {
    error:
      "The outcome is unknown; retry with the same idempotency key; without one read your " +
      "statement first",
    code: "OUTCOME_UNKNOWN",
  });
});

test.serial(
  "503 CONFLICT_RETRY: the key could not be looked up, so the order was not placed",
  async (t) => {
    const marketId = await makeMarket();
    const { key } = await makeTrader();
    const body = { marketId, side: "yes", price: 10, quantity: 1 };
    const blocker = await service.database.pool.connect();
    await blocker.query("begin; lock table identity.api_keys in access exclusive mode");
    const { rows } = await blocker.query("select pg_backend_pid() as pid");
    const order = { isAnswered: false };
    const pending = call("POST", "/api/v1/orders", { key, body }).finally(() => {
      order.isAnswered = true;
    });
    // Each attempt at the look-up is cut, until the server gives up.
    while (!order.isAnswered) {
      await service.database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and $1 = any (pg_blocking_pids(pid))`,
        [rows[0].pid],
      );
      await delay(10);
    }
    await blocker.query("rollback");
    blocker.release();
    is503(t, await pending, conflict);
  },
);

test.serial("503 CONFLICT_RETRY: a lock stays held, for all waiting orders", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const body = { marketId, side: "yes", price: 10, quantity: 1 };
  const placed = await call("POST", "/api/v1/orders", { key, body });
  const orderPath = `/api/v1/orders/${placed.body.order.id}`;

  service.pool.on("connect", (client) => void client.query("set lock_timeout = 30"));
  await outside(endSessions);
  const blocker = await service.database.pool.connect();
  await blocker.query("begin; lock table trading.active_orders in access exclusive mode");
  const answers = await Promise.all([
    call("DELETE", orderPath, { key }),
    ...Array.from({ length: 5 }, () => call("POST", "/api/v1/orders", { key, body })),
  ]);
  for (const answer of answers) is503(t, answer, conflict);
  await blocker.query("rollback");
  blocker.release();

  t.is((await call("POST", "/api/v1/orders", { key, body })).status, 201);
  t.is((await call("DELETE", orderPath, { key })).status, 200);
});

test.serial("a lock that is held for a short time only delays the answer", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const body = { marketId, side: "yes", price: 10, quantity: 1 };
  const blocker = await service.database.pool.connect();
  await blocker.query("begin; lock table trading.active_orders in access exclusive mode");
  const pending = call("POST", "/api/v1/orders", { key, body });
  await delay(60);
  await blocker.query("rollback");
  blocker.release();
  t.is((await pending).status, 201);
});
