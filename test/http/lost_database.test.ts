import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { makePool } from "../../src/database/pools.ts";
import { findPrograms } from "../../src/local/postgres_process.ts";
import { anyLimits, traderName } from "../helpers/exchange/test_exchange.ts";
import { startProcess } from "../helpers/processes/service_process.ts";
import { startStockCluster } from "../helpers/database/stock_cluster.ts";
import type { StockCluster } from "../helpers/database/stock_cluster.ts";
import { until } from "../helpers/until.ts";
import { placeOrders } from "../helpers/exchange/orders.ts";

/** Real processes whose PostgreSQL crashes under them and comes back. */

async function withCluster(work: (cluster: StockCluster) => Promise<void>): Promise<void> {
  const { TEST_POSTGRES_BIN } = process.env;
  const { postgres } = await findPrograms(TEST_POSTGRES_BIN === "" ? undefined : TEST_POSTGRES_BIN);
  const cluster = await startStockCluster(dirname(postgres));
  try {
    await migrateDatabase(cluster.url);
    await work(cluster);
  } finally {
    await cluster.destroy();
  }
}

/** Whether a query of a client of its own gives a row. */
async function finds(url: string, query: string, values: unknown[] = []): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(query, values)).rows.length > 0;
  } finally {
    await client.end();
  }
}

async function operate(url: string, name: string, values: Record<string, unknown>): Promise<any> {
  const pool = makePool({ connectionString: url, role: "exchange_operator", max: 1 });
  try {
    const named = Object.keys(values).map((key, index) => `"${key}" => $${index + 1}`);
    const call = `select admin.${name}(${named.join(", ")}) as value`;
    return (await pool.query(call, Object.values(values))).rows[0].value;
  } finally {
    await pool.end();
  }
}

/** An order that is released 3 s after it was placed; its id. */
async function scheduleOrder(url: string): Promise<string> {
  const about = { title: "A match", category: "tests" };
  const event_id = await operate(url, "create_event", { ...about, live: true });
  const market = await operate(url, "create_market", { ...about, event_id });
  const user_id = await operate(url, "create_user", traderName(1));
  await operate(url, "deposit", { user_id, amount_cents: 100_000, reference: "start" });
  const [day_cents, week_cents, month_cents] = anyLimits(1);
  await operate(url, "set_loss_limits", { user_id, day_cents, week_cents, month_cents });
  const pool = makePool({ connectionString: url, role: "exchange_api", max: 1 });
  const client = await pool.connect();
  try {
    const request = {
      marketId: market,
      userId: user_id,
      side: "yes",
      price: 40,
      quantity: 1,
    } as const;
    const [outcome] = await placeOrders(client, [request]);
    const { order } = JSON.parse(outcome!.body);
    if (order.status !== "scheduled") throw new Error(`not scheduled: ${outcome!.body}`);
    return order.id;
  } finally {
    client.release();
    await pool.end();
  }
}

/** Has a worker take a job that waits for a lock, so that it is under way. */
async function occupyWorker(url: string): Promise<pg.Client> {
  const blocker = new pg.Client({ connectionString: url });
  blocker.on("error", () => undefined);
  await blocker.connect();
  await blocker.query("begin; lock table trading.idempotency_keys in access exclusive mode");
  const pool = makePool({ connectionString: url, max: 1 });
  await pool.query("select graphile_worker.add_job('keys__remove', job_key => 'keys__remove')");
  await pool.end();
  await until("the job is under way", () =>
    finds(
      url,
      `select from pg_stat_activity
       where application_name in ('pgmarkets worker') and wait_event_type = 'Lock'`,
    ),
  );
  return blocker;
}

for (const [name, script, ready] of [
  ["npm start", "start.ts", "listening on"],
  ["npm run worker", "worker.ts", "working\n"],
] as const) {
  test.serial(`${name} outlives a crash of PostgreSQL, and releases go on`, async (t) => {
    await withCluster(async (cluster) => {
      const { url } = cluster;
      await operate(url, "create_category", { slug: "tests", name: "Tests" });
      const running = startProcess(t, script, { DATABASE_URL: url });
      t.true(await running.says(ready), running.errors());
      const order = await scheduleOrder(url);
      const blocker = await occupyWorker(url);
      await cluster.crash();
      await blocker.end().catch(() => undefined);
      t.true(await running.says("the database lost a statement"), running.errors());
      await cluster.start();
      await until("the order is released", () =>
        finds(url, "select from trading.orders where public_id = $1 and status = 'open'", [order]),
      );
      await endsInOrder(t, running);
    });
  });
}

async function endsInOrder(t: ExecutionContext, running: ReturnType<typeof startProcess>) {
  running.kill("SIGTERM");
  t.is(await running.exited, 0, running.errors());
  t.false(running.errors().includes("unforeseen error"), running.errors());
}

test("an unhandled rejection ends the process unless it is a lost database", async (t) => {
  const script = fileURLToPath(new URL("./unhandled_rejection.ts", import.meta.url));
  const outcomes: Record<string, RegExp> = {
    "pg.ECONNREFUSED": /"level":"warn".*the database lost a statement/,
    "pg.terminated": /"level":"warn".*the database lost a statement/,
    "pg.password": /"level":"warn".*the database lost a statement/,
    TypeError: /"level":"fatal".*unforeseen error/,
    "file.ENOENT": /"level":"fatal".*unforeseen error/,
  };
  for (const [what, line] of Object.entries(outcomes)) {
    const running = startProcess(t, script, { REJECTION: what });
    const survives = what.startsWith("pg.");
    t.is(await running.says("goes on"), survives, running.errors());
    if (survives) running.kill("SIGTERM");
    t.is(await running.exited, survives ? 0 : 1);
    t.regex(running.errors(), line);
  }
});
