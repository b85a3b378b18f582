import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { until } from "../helpers/until.ts";
import { startBookClient } from "./book_clients.ts";
import { findViolations } from "./check.ts";
import { startLoad } from "./load.ts";
import type { Journal } from "./load.ts";
import { findLeftBehind } from "./left_behind.ts";
import { limitedByBucket, limitedByWindow } from "./rate_due.ts";
import { startFlood, tooMany } from "./rate_flood.ts";
import {
  commandsOf,
  countAnswers,
  newJournal,
  runDrill,
  seed,
  switchesHaveFired,
  withClient,
} from "./run.ts";
import { startServer, startWorker } from "./server_process.ts";
import type { ServerProcess, WorkerProcess } from "./server_process.ts";
import { startReaders } from "./standby_readers.ts";
import { isComplete } from "./stream_check.ts";
import { limitStreams, losePlaces } from "./stream_places.ts";
import { readUserIds, sendMarks, startStreamClient } from "./stream_clients.ts";
import { connectTo } from "./system.ts";
import { startTimedOrders, untimely } from "./timed_orders.ts";

/**
 * `npm run drill:many_servers [-- --short]`: four servers and three workers on one database, which are
 * killed, stopped in order and frozen at random, under orders, reads, streams and floods through all of
 * them. Ends with 1 unless limits of rates were those of one server, orders are there once as answered,
 * streams had everything once and in order, and what is due at a time happened once and in time.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const runMs = values.short ? 25_000 : 600_000;

const SERVERS = 4;
const WORKERS = 3;
/** The clients of each load, with a user each: plain orders, whose streams are followed, and keys. */
const CLIENTS = 6;
const TRADERS = 2 * CLIENTS;
/** The last three have limits: of orders, of reads, and of streams. */
const FLOODING = 3;
const TOKENS = { perMinute: 120, burst: 10 };
const READS = { most: 20, seconds: 4 };
const LIVE_DELAY_MS = 1000;
/** A server is up again before the next one is disturbed. A worker is not waited for. */
const EVERY_MS = { server: [200, 1500], worker: [3000, 8000] } as const;
/** A worker that is frozen may hold what is due; another one takes it when its lock is free. */
const MOST_LATE_MS = 15_000;

interface ManyServers {
  servers: ServerProcess[];
  workers: WorkerProcess[];
  connect: () => Promise<Client>;
  serverLog: () => string;
  destroy: () => Promise<void>;
}

await runDrill(start, drill);

async function start(): Promise<ManyServers> {
  const cluster = await startTemporaryCluster("drill", { settings: { max_connections: "300" } });
  const servers: ServerProcess[] = [];
  const workers: WorkerProcess[] = [];
  const destroy = async (): Promise<void> => {
    await Promise.all([...workers, ...servers].map(({ end }) => end()));
    await cluster.destroy();
  };
  try {
    const { connectionString } = cluster.server;
    await migrateDatabase(connectionString);
    for (let number = 0; number < SERVERS; number++) {
      servers.push(await startServer(connectionString));
    }
    for (let number = 0; number < WORKERS; number++) workers.push(startWorker(connectionString));
    return {
      servers,
      workers,
      connect: () => connectTo(connectionString),
      serverLog: () => servers.map(({ log }) => log()).join("\n"),
      destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** Markets and users, of which the last ones have limits. */
async function prepare(client: Client) {
  const { marketIds, apiKeys } = await seed(client, TRADERS + FLOODING);
  const userIds = await readUserIds(client);
  const one = async (text: string, given: unknown[]): Promise<string> => {
    const { rows } = await client.query({ text, values: given, rowMode: "array" });
    return String(rows[0]?.[0]);
  };
  const eventId = await one(
    `select admin.create_event(
       title => 'Live', category => 'drill', live => true, live_delay_ms => $1
     )`,
    [LIVE_DELAY_MS],
  );
  const create = "select admin.create_market(title => 'Live', category => 'drill', event_id => $1)";
  const liveMarketId = await one(create, [eventId]);
  const closing = `select admin.create_market(
    title => 'Closing', category => 'drill', close_time => now() + make_interval(secs => $1)
  )`;
  const closingIds: string[] = [];
  for (let part = 1; part <= 5; part++) {
    closingIds.push(await one(closing, [(runMs / 1000) * (part / 6)]));
  }
  await client.query(
    "select admin.set_rate_limit(bucket => 'v1-user', max_requests => $1, window_seconds => $2)",
    [READS.most, READS.seconds],
  );
  await limitStreams(client);
  await client.query(
    `select admin.set_rate_policy(
       user_id => $1, tier => 'custom', requests_per_minute => $2, burst_capacity => $3
     )`,
    [userIds[TRADERS], TOKENS.perMinute, TOKENS.burst],
  );
  return { marketIds, apiKeys, userIds, liveMarketId, closingIds };
}

async function drill(system: ManyServers): Promise<boolean> {
  const { connect, servers } = system;
  const urls = servers.map(({ url }) => url);
  const { marketIds, apiKeys, userIds, liveMarketId, closingIds } = await withClient(
    connect,
    prepare,
  );
  const [marketId = ""] = marketIds;
  const followers = userIds
    .slice(0, CLIENTS)
    .map((userId, index) => startStreamClient({ userId, urls, apiKey: apiKeys[index] ?? "" }));
  await until("all streams are open", async () => {
    await withClient(connect, (client) => sendMarks(client, userIds, "first"));
    await delay(200);
    return followers.every(({ frames }) => frames.length > 0);
  });

  const any = (): string => urls[randomInt(urls.length)] ?? "";
  const journal = newJournal();
  const load = { url: any, marketIds, apiKeys, journal, clients: CLIENTS, pauseMs: 50 };
  const loads = [
    startLoad(load),
    startLoad({ ...load, firstClient: CLIENTS, withKeys: true }),
  ] as const;
  const [, , , timedKey = ""] = apiKeys;
  const timed = startTimedOrders({ urls, apiKey: timedKey, liveMarketId, marketId });
  const readers = startReaders({ urls, marketIds, apiKeys: apiKeys.slice(0, 2) });
  // Who asks a server that is killed gets no answer: only what is answered is judged.
  readers.excuse();
  const books = urls.map((url) => startBookClient(url, marketIds));
  const [tradingKey = "", readingKey = ""] = apiKeys.slice(TRADERS);
  const order = { marketId: liveMarketId, side: "yes", price: 1, quantity: 1 };
  const orders = startFlood({
    ...{ urls, apiKey: tradingKey, method: "POST", path: "/api/v1/orders", body: order },
  });
  const reads = startFlood({
    ...{ urls, apiKey: readingKey, method: "GET", path: "/api/v1/me/rate-limits" },
  });

  const placesKey = apiKeys.at(-1) ?? "";
  const lostPlaces = await losePlaces(servers, placesKey);
  const [disturbed, unsound] = await Promise.all([disturb(system), verifyMeanwhile(connect)]);
  console.log(disturbed);

  const [sentOrders, sentReads] = [await orders.stop(), await reads.stop()];
  const timedOrders = await timed.stop();
  await Promise.all(loads.map(({ stop }) => stop()));
  const faults = [...unsound, ...(await lostPlaces.faults), ...(await readers.stop())];
  if (readers.count() < runMs / 1000) faults.push(`only ${readers.count()} reads were answered`);
  await switchesHaveFired(connect);
  await loads[0].repeat();
  await nothingIsDue(connect);
  for (const book of books) faults.push(...(await book.stop()));
  await withClient(connect, (client) => sendMarks(client, userIds, "last"));
  await Promise.all(followers.map((follower) => follower.until(({ type }) => type === "last")));
  await Promise.all(followers.map(({ stop }) => stop()));

  faults.push(
    ...tooMany(sentOrders, (ms) => TOKENS.burst + Math.floor((TOKENS.perMinute * ms) / 60_000)),
    ...limitedByBucket(sentOrders, TOKENS.burst, TOKENS.perMinute),
    ...tooMany(sentReads, (ms) => READS.most * Math.ceil((ms + 1) / (READS.seconds * 1000))),
    ...limitedByWindow(sentReads, READS.most, READS.seconds * 1000),
  );
  return await withClient(connect, async (client) => {
    const [timedFollower] = followers.slice(3);
    if (timedFollower === undefined) throw new Error("unreachable: there are more traders");
    faults.push(...(await untimely(client, timedOrders, timedFollower, MOST_LATE_MS)));
    faults.push(...(await notClosed(client, closingIds)));
    faults.push(...(await findViolations(client, journal)));
    const hasAll = await isComplete(client, followers);
    tell({ sentOrders, sentReads, timedOrders, journal });
    faults.push(...(await findLeftBehind(client, servers, system.workers)));
    for (const fault of faults.slice(0, 20)) console.error(fault);
    return hasAll && faults.length === 0;
  });
}

/** Kills, stops and freezes servers and workers until the time is over. What happened, in words. */
async function disturb({ servers, workers }: ManyServers): Promise<string> {
  const ends = Date.now() + runMs;
  const counts = { kill: 0, restart: 0, freeze: 0 };
  const some = async (
    processes: (ServerProcess | WorkerProcess)[],
    [shortest, longest]: readonly [number, number],
  ): Promise<void> => {
    while (Date.now() < ends) {
      await delay(randomInt(shortest, longest));
      const victim = processes[randomInt(processes.length)];
      const how = (["kill", "kill", "restart", "freeze"] as const)[randomInt(4)] ?? "kill";
      counts[how]++;
      if (how === "freeze") await victim?.freeze(randomInt(500, 3000));
      else await victim?.[how]();
    }
  };
  await Promise.all([
    some(servers.slice(0, SERVERS / 2), EVERY_MS.server),
    some(servers.slice(SERVERS / 2), EVERY_MS.server),
    some(workers, EVERY_MS.worker),
  ]);
  return `${counts.kill} kills, ${counts.restart} stops in order, ${counts.freeze} freezes`;
}

async function nothingIsDue(connect: ManyServers["connect"]): Promise<void> {
  const due = `select from trading.active_orders
    where queue_position is null and release_at < now() or expires_at < now()`;
  await withClient(connect, (client) =>
    until("nothing is due", async () => (await client.query(due)).rows.length === 0, 30_000),
  );
}

async function notClosed(client: Client, marketIds: string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    "select public_id as id from catalog.markets where public_id = any ($1) and status <> 'closed'",
    [marketIds],
  );
  return rows.map(({ id }) => `the market ${id} was not closed`);
}

/** What the ledger's checks find while the drill goes on, in words. */
async function verifyMeanwhile(connect: ManyServers["connect"]): Promise<string[]> {
  const found: string[] = [];
  for (let part = 1; part <= 4; part++) {
    await delay(runMs / 5);
    const { rows } = await withClient(connect, (client) =>
      client.query("select * from ledger.verify()"),
    );
    found.push(...rows.map((row) => `meanwhile ledger.verify(): ${JSON.stringify(row)}`));
  }
  return found;
}

interface Shown {
  sentOrders: { outcome: string }[];
  sentReads: { outcome: string }[];
  timedOrders: unknown[];
  journal: Journal;
}

function tell({ sentOrders, sentReads, timedOrders, journal }: Shown): void {
  const through = (sent: { outcome: string }[]): string =>
    `${sent.filter(({ outcome }) => outcome === "through").length} of ${sent.length}`;
  console.log(
    `${countAnswers(commandsOf(journal))}; floods: ${through(sentOrders)} orders and ` +
      `${through(sentReads)} reads came through; ${timedOrders.length} orders with a time`,
  );
}
