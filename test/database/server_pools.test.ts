import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import type { Pool, PoolClient } from "pg";
import { pino } from "pino";
import { waitingCalls } from "../../src/database/database_metrics.ts";
import { makePool, openMinimum } from "../../src/database/pools.ts";
import {
  listPools,
  makeServerPools,
  openPools,
  sharesOf,
} from "../../src/database/server_pools.ts";
import type { ServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { callService } from "../helpers/http/test_service.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { createExchange } from "../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../helpers/exchange/test_exchange.ts";
import { until } from "../helpers/until.ts";

const logger = pino({ level: "silent" });
const config = { host: "127.0.0.1", port: 0, trustProxy: false, poolSize: 3 };

let exchange: Exchange;
let pools: ServerPools;
let service: RunningServer;
let market: string;
let key: string;

test.serial.before("serve", async () => {
  exchange = await createExchange();
  const { connectionString, pool } = exchange.database;
  await liftRateLimits(pool);
  pools = makeServerPools({ connectionString, config, logger });
  await openPools(pools);
  service = await serve({ pools, config, logger });
  market = await exchange.makeMarket();
  key = await exchange.operate("create_api_key", {
    user_id: await exchange.makeTrader(),
    name: "test",
  });
});
test.after.always("stop", async () => {
  await service.close();
  await exchange.database.drop();
});

/** Takes every connection of a pool, and waits for one more, until the work is done. */
async function saturated(pool: Pool, work: () => Promise<void>): Promise<void> {
  const size = (pool as unknown as { options: { max: number } }).options.max;
  const taken: PoolClient[] = [];
  for (let index = 0; index < size; index++) taken.push(await pool.connect());
  const waiting = pool.connect().then((client) => {
    client.release();
  });
  try {
    expectFull(pool);
    await work();
  } finally {
    for (const client of taken) client.release();
    await waiting;
  }
}

function expectFull(pool: Pool): void {
  if (pool.waitingCount === 0) throw new Error("The pool is not saturated");
}

const order = () =>
  callService(service.url, "POST", "/api/v1/orders", {
    key,
    body: { marketId: market, side: "yes", price: 5, quantity: 1 },
  });

test.serial("the connections of a server add up to the number in the documentation", (t) => {
  for (const size of [2, 3, 12, 100]) {
    const { orders, reads, checks, monitoring } = sharesOf(size);
    t.is(orders + reads, size);
    t.is(checks + monitoring, 6);
    t.true(orders >= reads);
  }
  t.is(listPools(pools).length, 4);
});

test.serial("reads that take all their connections don't delay an order", async (t) => {
  await saturated(pools.reads, async () => {
    t.is((await order()).status, 201);
    t.is(pools.reads.waitingCount, 1);
  });
});

test.serial(
  "orders that take all their connections delay neither reads, readiness nor metrics",
  async (t) => {
    await saturated(pools.orders, async () => {
      t.is((await callService(service.url, "GET", `/api/v1/markets/${market}`)).status, 200);
      const ready = await callService(service.url, "GET", "/readyz");
      // The tests' databases have had no migrations, which is an answer of the database.
      t.is(ready.body.reason, "migrations_missing");
      const figures = await callService(service.url, "GET", "/metrics");
      t.regex(figures.body, /^pgmarkets_database_up 1$/m);
      t.regex(figures.body, /^pgmarkets_pool_connections\{pool="orders",state="waiting"\} 1$/m);
    });
  },
);

test.serial("a call that finds a connection is not counted as one that waits", async (t) => {
  const done = pools.orders.query("select");
  t.is(pools.orders.waitingCount, 1);
  t.is(waitingCalls(pools.orders), 0);
  await done;
});

test.serial("monitors that take all their connections don't delay an order", async (t) => {
  await saturated(pools.monitoring, async () => {
    t.is((await order()).status, 201);
  });
});

test.serial("monitors that ask at the same time share one reading", async (t) => {
  let readings = 0;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its client
  const query = pg.Client.prototype.query as (this: pg.Client, ...values: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...values: unknown[]) {
    if ((values[0] as { name?: string } | undefined)?.name === "get_metrics") readings++;
    return query.apply(this, values);
  } as typeof pg.Client.prototype.query;
  // Later than what was read before is kept, and then the time stands.
  const later = performance.now() + 1100;
  performance.now = () => later;
  try {
    const ask = () => callService(service.url, "GET", "/metrics");
    await Promise.all(Array.from({ length: 10 }, ask));
    await ask();
  } finally {
    Reflect.deleteProperty(performance, "now");
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
  }
  t.is(readings, 1);
});

test.serial("all connections for orders are open and warm before the server listens", (t) => {
  t.is(pools.orders.totalCount, sharesOf(config.poolSize).orders);
});

test.serial("a lost connection is replaced by a warm one before it is needed", async (t) => {
  const warmed: number[] = [];
  const pool = makePool({
    connectionString: exchange.database.connectionString,
    ...{ max: 3, min: 2, idleTimeoutMs: 20 },
    warmUp: async (client) => {
      const { rows } = await client.query("select pg_backend_pid() as id");
      warmed.push(rows[0].id);
    },
  });
  try {
    await openMinimum(pool);
    t.is(warmed.length, 2);
    await delay(100);
    t.is(pool.totalCount, 2, "idle connections are kept");
    await exchange.database.pool.query("select pg_terminate_backend($1)", [warmed[0]]);
    await until("there are two again", async () => warmed.length === 3 && pool.idleCount === 2);
    t.is(pool.totalCount, 2);
  } finally {
    await pool.end();
  }
});

test.serial(
  "a request that comes while a connection is being warmed takes a free one",
  async (t) => {
    let open = (): void => undefined;
    let isSlow = false;
    const pool = makePool({
      connectionString: exchange.database.connectionString,
      ...{ max: 2, min: 2 },
      warmUp: async () => {
        if (isSlow) await new Promise<void>((done) => (open = done));
      },
    });
    try {
      await openMinimum(pool);
      isSlow = true;
      const lost = await pool.connect();
      lost.release(true);
      await until("another is opened", async () => pool.totalCount === 2);
      t.is((await pool.query("select 1 as one")).rows[0].one, 1);
      open();
    } finally {
      isSlow = false;
      await until("it is open", async () => {
        open();
        return pool.idleCount === 2;
      });
      await pool.end();
    }
  },
);
