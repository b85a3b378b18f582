import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Pool } from "pg";
import { crontab } from "../../jobs/crontab.ts";
import { makeLogger } from "../../src/bin/logger.ts";
import { call } from "../../src/database/call.ts";
import { api as apiFunctions } from "../../src/database/calls.ts";
import type { OrderRequest } from "../../src/database/calls.ts";
import { makePool } from "../../src/database/pools.ts";
import { databaseTypes } from "../../src/database/types.ts";
import { createListener } from "../../src/streams/listener.ts";
import { createOutboxRelay } from "../../src/streams/outbox_relay.ts";
import { work } from "../../src/worker/start_worker.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { placeOrders } from "../helpers/exchange/orders.ts";
import { makeQueue } from "../helpers/exchange/test_worker.ts";
import { checkAndDrop } from "./bench.ts";
import type { Bench } from "./bench.ts";
import type { BenchDatabase } from "./cluster.ts";
import { quantile, roundsOf } from "./rounds.ts";

/** How many markets have orders. */
export const MARKETS = 100;
/** Between the preparation of a round and the first moment that something is due. */
export const AHEAD_MS = 2000;
const PATIENCE_MS = 60_000;

/** A target about how late a worker does what is due. */
export interface LatenessTarget<Name extends string> {
  name: string;
  prepare?: (database: BenchDatabase) => Promise<void>;
  /** How late each order was, in milliseconds, in lists with names. `api` acts as exchange_api. */
  measureRound: (database: BenchDatabase, api: Pool) => Promise<Record<Name, number[]>>;
}

/**
 * Measures with one worker in one process with an outbox relay, as under `npm start`. Returns the
 * 99th percentiles of the lists of each counted round.
 */
export async function measureLateness<Name extends string>(
  { sizes, cluster }: Bench,
  { name, prepare, measureRound }: LatenessTarget<Name>,
): Promise<Record<Name, number>[]> {
  const database = await cluster.createDatabase(name, { isServed: true });
  const { connectionString } = database;
  await prepare?.(database);
  await makeQueue(database);

  const logger = makeLogger("warn");
  const api = makePool({ connectionString, role: "exchange_api", max: 18 });
  const jobs = makePool({ connectionString, role: "exchange_worker", max: 18 });
  const outboxRelay = createOutboxRelay({ pool: api, logger });
  const worker = await work(jobs, { logger, crontab, onWorked: outboxRelay.ring });
  const rounds: Record<Name, number>[] = [];
  try {
    for (const { isCounted } of roundsOf(sizes)) {
      const late = Object.entries<number[]>(await measureRound(database, api));
      const p99s = late.map(([list, all]) => {
        const [median, p99] = [0.5, 0.99].map((share) => Math.round(quantile(all, share)));
        console.error(`  ${name}, ${list}: median ${median} ms, p99 ${p99} ms`);
        return [list, p99];
      });
      if (isCounted) rounds.push(Object.fromEntries(p99s));
    }
  } finally {
    await worker.close();
    await outboxRelay.close();
    await api.end();
  }
  await checkAndDrop(database);
  return rounds;
}

/** Places the orders of each market, which are numbered from 1, in one call. */
export async function placeInMarkets(
  api: Pool,
  ordersOf: (market: number) => OrderRequest[],
): Promise<void> {
  await withClient(api, async (client) => {
    for (let market = 1; market <= MARKETS; market++) {
      const orders = ordersOf(market);
      if (orders.length > 0) await placeOrders(client, orders);
    }
  });
}

type UserEvent = Record<string, unknown>;

interface Awaited {
  count: number;
  /** Has things fall due; returns when what an event is about was due, in milliseconds since 1970. */
  schedule: () => Promise<(event: UserEvent) => number | undefined>;
}

/**
 * How late the events of users that were due are delivered, until so many came or in vain. It
 * listens before anything is scheduled: the statement that schedules may take longer than the time
 * until the first is due.
 */
export async function hearLateness(
  { connectionString }: BenchDatabase,
  { count, schedule }: Awaited,
): Promise<number[]> {
  const heard: { event: UserEvent; at: number }[] = [];
  const listener = createListener({
    logger: makeLogger("info"),
    makeClient: () => new pg.Client({ connectionString, types: databaseTypes }),
    readEvents: (client, afterId, most) =>
      call(client, apiFunctions.followEvents, { afterId, most }),
    onUserEvent: ({ event }) => heard.push({ event, at: Date.now() }),
    onNews: () => undefined,
    onTick: () => undefined,
    onMarketStatus: () => undefined,
    onMarketChanged: () => undefined,
    onApiKeyRevoked: () => undefined,
    onSessionEnded: () => undefined,
    onGap: () => undefined,
  });
  await listener.start();
  try {
    const dueAt = await schedule();
    const lateness = (): number[] =>
      heard.flatMap(({ event, at }) => {
        const due = dueAt(event);
        return due === undefined ? [] : [at - due];
      });
    const end = Date.now() + PATIENCE_MS;
    while (lateness().length < count && Date.now() < end) await delay(50);
    return lateness();
  } finally {
    await listener.close();
  }
}
