import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Pool } from "pg";
import { crontab } from "../../jobs/crontab.ts";
import { call } from "../../src/database/call.ts";
import { api as apiFunctions } from "../../src/database/calls.ts";
import { makePool } from "../../src/database/pools.ts";
import { databaseTypes } from "../../src/database/types.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { createListener } from "../../src/streams/listener.ts";
import { createOutboxRelay } from "../../src/streams/outbox_relay.ts";
import { migrateQueue } from "../../src/database/job_queue.ts";
import { work } from "../../src/worker/start_worker.ts";
import { placeOrders } from "../helpers/exchange/orders.ts";
import { checkAndDrop, expectCount } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import type { Result } from "./report.ts";
import { quantile, roundsOf } from "./rounds.ts";

const ORDERS = 1000;
const MARKETS = 100;
const WITHIN_MS = 1000;
/** Time to have everything scheduled before the first is due. */
const AHEAD_MS = 2000;
const PATIENCE_MS = 60_000;

/**
 * How late the owners of scheduled orders hear that they were released, when many are due within
 * one second: from the release time to the delivery of the event, with one worker in one process with
 * an outbox relay, as under `npm start`.
 */
export async function measureReleaseLateness(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const database = await cluster.createDatabase("release_lateness", { isServed: true });
  const { connectionString, pool } = database;
  await makeLive(pool);
  await makeQueue(connectionString);

  const logger = makeLogger("warn");
  const [api, jobs] = (["exchange_api", "exchange_worker"] as const).map((role) =>
    makePool({ connectionString, role, max: 18 }),
  ) as [Pool, Pool];
  const outboxRelay = createOutboxRelay({ pool: api, logger });
  const worker = await work(jobs, { logger, crontab, onWorked: outboxRelay.ring });
  const ours: number[] = [];
  try {
    for (const { isCounted } of roundsOf(sizes)) {
      const late = await measureRound(database, api);
      const median = Math.round(quantile(late, 0.5));
      const p99 = Math.round(quantile(late, 0.99));
      console.error(`  release lateness: median ${median} ms, p99 ${p99} ms`);
      if (isCounted) ours.push(p99);
    }
  } finally {
    await worker.close();
    await outboxRelay.close();
    await api.end();
  }
  await checkAndDrop(database);
  const target =
    `${ORDERS} scheduled orders due within a second in ${MARKETS} markets, half crossing: ` +
    "how late the 99th of 100 is heard of";
  return [{ target, unit: "ms", must: 150, aim: 50, ours }];
}

async function makeLive(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select admin.create_event(
       title => 'Live', category => 'bench', live => true, live_delay_ms => 60000
     ) as id`,
  );
  await pool.query(
    `update catalog.markets as m
     set event_id = (select e.id from catalog.events as e where e.public_id = $1)
     where m.public_id between $2 and $3`,
    [rows[0]?.id, publicId(1), publicId(MARKETS)],
  );
}

async function makeQueue(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await migrateQueue(client, connectionString);
  await client.end();
}

/** How late each order was, in milliseconds; none is early. */
async function measureRound(
  { connectionString, pool }: BenchDatabase,
  api: Pool,
): Promise<number[]> {
  await scheduleOrders(api);
  // The same delay for all would have them due as fast as they could be placed.
  const { rows } = await pool.query<{ id: string; ms: number }>(
    `with due as (
       select o.id, o.public_id, s.at + o.id * 7919 % $2::int * interval '1 ms' as at
       from trading.orders as o
       cross join (select core.now() + $1::int * interval '1 ms' as at) as s
       where o.status = 'scheduled'
     ),
     of_orders as (
       update trading.orders as o set release_at = d.at from due as d where d.id = o.id
     ),
     of_open_orders as (
       update trading.active_orders as b set release_at = d.at from due as d where d.id = b.order_id
     )
     select public_id as id, extract(epoch from at)::float8 * 1000 as ms from due`,
    [AHEAD_MS, WITHIN_MS],
  );
  expectCount("scheduled orders", rows.length, ORDERS);
  const dueAt = new Map(rows.map(({ id, ms }) => [id, ms]));

  const late: number[] = [];
  const listener = createListener({
    logger: makeLogger("info"),
    makeClient: () => new pg.Client({ connectionString, types: databaseTypes }),
    readEvents: (client, afterId, most) =>
      call(client, apiFunctions.followEvents, { afterId, most }),
    onUserEvent: ({ event: { type, orderId } }) => {
      const due = dueAt.get(orderId as string);
      if (type === "order_released" && due !== undefined) late.push(Date.now() - due);
    },
    onNews: () => undefined,
    onTick: () => undefined,
    onMarketStatus: () => undefined,
    onMarketChanged: () => undefined,
    onApiKeyRevoked: () => undefined,
    onSessionEnded: () => undefined,
    onGap: () => undefined,
  });
  await listener.start();
  const end = Date.now() + PATIENCE_MS;
  while (late.length < ORDERS && Date.now() < end) await delay(50);
  await listener.close();
  expectCount("released orders", late.length, ORDERS);
  const { rows: early } = await pool.query(
    "select from trading.orders where released_at < release_at",
  );
  expectCount("orders released early", early.length, 0);
  return late;
}

/** Pairs of orders that will match when both are released. */
async function scheduleOrders(api: Pool): Promise<void> {
  const each = ORDERS / MARKETS;
  const client = await api.connect();
  try {
    for (let market = 1; market <= MARKETS; market++) {
      const requests = Array.from({ length: each }, (_, place) => ({
        marketId: publicId(market),
        userId: publicId(1 + ((market * each + place) % 400)),
        side: place % 2 === 0 ? ("yes" as const) : ("no" as const),
        price: 50,
        quantity: 10,
        idempotencyKey: randomUUID(),
      }));
      await placeOrders(client, requests);
    }
  } finally {
    client.release();
  }
}
