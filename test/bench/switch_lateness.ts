import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Pool } from "pg";
import { crontab } from "../../jobs/crontab.ts";
import { call } from "../../src/database/call.ts";
import { api as apiFunctions } from "../../src/database/calls.ts";
import { migrateQueue } from "../../src/database/job_queue.ts";
import { makePool } from "../../src/database/pools.ts";
import { databaseTypes } from "../../src/database/types.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { createListener } from "../../src/streams/listener.ts";
import { createOutboxRelay } from "../../src/streams/outbox_relay.ts";
import { work } from "../../src/worker/start_worker.ts";
import { placeOrders } from "../helpers/exchange/orders.ts";
import { checkAndDrop, expectCount } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import type { Result } from "./report.ts";
import { quantile, roundsOf } from "./rounds.ts";

const MOST_SWITCHES = 1000;
const ORDERS_EACH = 2;
const MARKETS = 100;
/** Time for the worker to see them before they are due. */
const AHEAD_MS = 2000;
const PATIENCE_MS = 60_000;

/**
 * How late orders are cancelled, and their owners hear of it, when dead man's switches of many
 * users expire at the same moment: with one worker in one process with an outbox relay, as under
 * `npm start`.
 */
export async function measureSwitchLateness(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const switches = Math.min(MOST_SWITCHES, sizes.traders);
  const database = await cluster.createDatabase("switch_lateness", { isServed: true });
  const { connectionString } = database;
  await makeQueue(connectionString);

  const logger = makeLogger("warn");
  const [api, jobs] = (["exchange_api", "exchange_worker"] as const).map((role) =>
    makePool({ connectionString, role, max: 18 }),
  ) as [Pool, Pool];
  const outboxRelay = createOutboxRelay({ pool: api, logger });
  const worker = await work(jobs, { logger, crontab, onWorked: outboxRelay.ring });
  const [cancelled, heard]: [number[], number[]] = [[], []];
  try {
    for (const { isCounted } of roundsOf(sizes)) {
      const late = await measureRound(database, api, switches);
      const [p99, heardP99] = [late.cancelled, late.heard].map((all) =>
        Math.round(quantile(all, 0.99)),
      ) as [number, number];
      console.error(`  switch lateness: p99 ${p99} ms, heard of at ${heardP99} ms`);
      if (!isCounted) continue;
      cancelled.push(p99);
      heard.push(heardP99);
    }
  } finally {
    await worker.close();
    await outboxRelay.close();
    await api.end();
  }
  await checkAndDrop(database);
  const what = `${switches} dead man's switches due at once, ${ORDERS_EACH} orders each in ${MARKETS} markets: how late the 99th of 100 orders is`;
  return [
    { target: `${what} cancelled`, unit: "ms", must: 250, aim: 125, ours: cancelled },
    { target: `${what} heard of`, unit: "ms", must: 250, aim: 150, ours: heard },
  ];
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
  switches: number,
): Promise<{ cancelled: number[]; heard: number[] }> {
  await restOrders(api, switches);
  const { rows } = await pool.query<{ ms: number }>(
    `with at as materialized (select core.now() + $1::int * interval '1 ms' as at),
     switches as (
       insert into trading.dead_man_switches as s (user_id, expires_at)
       select t.user_id, a.at
       from trading.traders as t
       cross join at as a
       where t.public_id between $2 and $3
       on conflict (user_id) do update set expires_at = excluded.expires_at
     )
     select extract(epoch from at)::float8 * 1000 as ms from at`,
    [AHEAD_MS, publicId(1), publicId(switches)],
  );
  const dueAt = rows[0]?.ms ?? Number.NaN;

  const heard: number[] = [];
  const listener = createListener({
    logger: makeLogger("info"),
    makeClient: () => new pg.Client({ connectionString, types: databaseTypes }),
    readEvents: (client, afterId, most) =>
      call(client, apiFunctions.followEvents, { afterId, most }),
    onUserEvent: ({ event: { type } }) => {
      if (type === "order_cancelled") heard.push(Date.now() - dueAt);
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
  const orders = switches * ORDERS_EACH;
  const end = Date.now() + PATIENCE_MS;
  while (heard.length < orders && Date.now() < end) await delay(50);
  await listener.close();
  expectCount("events of cancelled orders", heard.length, orders);
  const { rows: ended } = await pool.query<{ ms: number }>(
    `select extract(epoch from o.cancelled_at)::float8 * 1000 - $1 as ms
     from trading.orders as o
     where o.cancelled_at >= to_timestamp($1 / 1000) - interval '1 s'`,
    [dueAt],
  );
  const cancelled = ended.map(({ ms }) => ms);
  expectCount("cancelled orders", cancelled.length, orders);
  expectCount("orders cancelled early", cancelled.filter((ms) => ms < 0).length, 0);
  return { cancelled, heard };
}

/** Bids that meet nothing: the orders of a user are in different markets. */
async function restOrders(api: Pool, switches: number): Promise<void> {
  const client = await api.connect();
  try {
    for (let market = 1; market <= MARKETS; market++) {
      const requests = [];
      for (let user = 1; user <= switches; user++) {
        for (let order = 0; order < ORDERS_EACH; order++) {
          if (1 + ((user * 7 + order) % MARKETS) !== market) continue;
          requests.push({
            ...{ marketId: publicId(market), userId: publicId(user) },
            ...{ side: "yes" as const, price: 10 + order, quantity: 1 },
          });
        }
      }
      if (requests.length > 0) await placeOrders(client, requests);
    }
  } finally {
    client.release();
  }
}
