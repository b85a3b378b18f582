import { setTimeout as delay } from "node:timers/promises";
import type { StandbyFigures } from "../../src/database/standbys.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { until } from "../helpers/until.ts";
import { checkLedger } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { Opening } from "./change_streams_clients.ts";
import { startChild } from "./children.ts";
import { makeApiKeys, startLoadedServer } from "./http_exchange.ts";
import type { LoadedServer } from "./http_exchange.ts";
import { countAnswers, formatGet, formatPost, KEY_PLACE } from "./http_load.ts";
import { randomBetween, restDepth, restLiquidity } from "./orders.ts";
import type { Result } from "./report.ts";
import { roundsOf } from "./rounds.ts";
import type { Figures } from "./rounds.ts";

const READERS = 64;
/** Of each reader, taken by turns. */
const READY_REQUESTS = 100;
const TRADERS = 8;
/** Orders that rest in the market that is watched. */
const DEPTH = 40;
const NAME = "standby_reads";

/** What a load came to: its rate, and what the primary spent on each answer. */
interface Measured {
  perSecond: number;
  primaryMicros: number;
}

type AllFigures = Record<keyof Measured, Figures>;

type Servers = [without: LoadedServer, having: LoadedServer];

type Load = (server: LoadedServer, seconds: number) => Promise<number>;

/**
 * Reads of books with two standbys against the same without, and orders in a market that many
 * clients watch. All share the processors of this machine, so what counts is what the primary is
 * spared; the rates say what the standbys cost.
 */
export async function measureStandbyReads(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const database = await cluster.createDatabase(NAME, { isServed: true });
  const { pool, connectionString } = database;
  await restLiquidity(pool, sizes.markets);
  await restDepth(pool, 1, DEPTH);
  await liftRateLimits(pool);
  const apiKeys = await makeApiKeys(pool, TRADERS, sizes.markets + 1);
  const standbys: TemporaryCluster[] = [];
  const servers: LoadedServer[] = [];
  try {
    for (let place = 0; place < 2; place++) standbys.push(await cluster.startStandby());
    const hosts = standbys.map(({ server }) => server.socketDirectory).join(",");
    const without = await startLoadedServer(connectionString);
    servers.push(without);
    const having = await startLoadedServer(
      connectionString,
      "1",
      `postgresql://postgres@/${NAME}?host=${hosts}`,
    );
    servers.push(having);
    await untilInUse(having);
    const both: Servers = [without, having];
    const reads = await byTurns(bench, both, "reads", readBooks(sizes.markets));
    const unlimited = readBooks(sizes.markets, "/unlimited");
    const { primaryMicros } = await byTurns(bench, both, "reads without limits", unlimited);
    const clients = Math.max(...sizes.streamClients);
    const orders = await byTurns(bench, both, "orders", (server, seconds) =>
      besideWatchers(server, clients, () => placeOrders(server, apiKeys, seconds)),
    );
    await checkLedger(database);
    return resultsOf({ reads, primaryMicros, orders, clients });
  } finally {
    await Promise.all(servers.map(({ end }) => end()));
    await Promise.all(standbys.map(({ destroy }) => destroy()));
    await database.drop();
  }
}

function resultsOf({
  reads,
  primaryMicros,
  orders,
  clients,
}: {
  reads: AllFigures;
  /** Of reads that are not counted for limits. */
  primaryMicros: Figures;
  orders: AllFigures;
  clients: number;
}): Result[] {
  const books = `books read by ${READERS} clients with two standbys / without`;
  const watched =
    `orders of ${TRADERS} traders in a market with ${clients.toLocaleString("en")} clients of its ` +
    "stream, with two standbys / without";
  return [
    {
      target: `processor time of the primary for each, no limits of requests, ${books}`,
      ...{ unit: "µs", must: 0.6, aim: 0.3, ...primaryMicros },
    },
    {
      target: `processor time of the primary for each, ${books}`,
      ...{ unit: "µs", must: 1.2, aim: 0.7, ...reads.primaryMicros },
    },
    { target: books, unit: "1/s", must: 0.3, aim: 0.8, ...reads.perSecond },
    { target: watched, unit: "1/s", must: 0.7, aim: 1, ...orders.perSecond },
  ];
}

/** Both standbys answer. */
async function untilInUse({ tell, next }: LoadedServer): Promise<void> {
  await until("both standbys in use", async () => {
    tell("standbys");
    const standbys = (await next()) as StandbyFigures[];
    return standbys.length === 2 && standbys.every(({ status }) => status === "in use");
  });
}

/** Loads the server without standbys and the one that has them by turns. */
async function byTurns(
  { sizes, cluster }: Bench,
  servers: Servers,
  what: string,
  load: Load,
): Promise<AllFigures> {
  const figures = {
    perSecond: { reference: [] as number[], ours: [] as number[] },
    primaryMicros: { reference: [] as number[], ours: [] as number[] },
  };
  for (const { round, isCounted } of roundsOf(sizes)) {
    for (const [place, server] of servers.entries()) {
      const seconds = isCounted ? sizes.seconds : sizes.warmUpSeconds;
      const before = await cluster.processorMs();
      const answers = await load(server, seconds);
      const primaryMicros = ((await cluster.processorMs()) - before) * (1000 / answers);
      const perSecond = answers / seconds;
      const kind = place === 0 ? "reference" : "ours";
      console.error(
        `  ${what}, round ${round}, ${place === 0 ? "without" : "with"} standbys: ` +
          `${perSecond.toFixed(0)} /s, ${primaryMicros.toFixed(0)} µs of the primary each`,
      );
      if (!isCounted) continue;
      figures.perSecond[kind].push(perSecond);
      figures.primaryMicros[kind].push(primaryMicros);
    }
  }
  return figures;
}

/** Reads books of random markets, each reader from an address of its own; how many. */
function readBooks(markets: number, prefix = ""): Load {
  const connections = Array.from({ length: READERS }, (_, reader) =>
    Array.from({ length: READY_REQUESTS }, () =>
      formatGet(
        `${prefix}/api/v1/markets/${publicId(randomBetween(1, markets))}/orderbook`,
        `192.0.2.${reader + 1}`,
      ),
    ),
  );
  return async (server, seconds) => countAnswers(await server.load(connections, seconds), "200");
}

/** Places orders that rest in the watched market; how many. */
async function placeOrders(
  server: LoadedServer,
  apiKeys: string[],
  seconds: number,
): Promise<number> {
  const connections = apiKeys.map((apiKey) =>
    Array.from({ length: READY_REQUESTS }, () =>
      formatPost("/api/v1/orders", apiKey, {
        ...{ marketId: publicId(1), side: "yes", price: randomBetween(1, 40), quantity: 1 },
        idempotencyKey: KEY_PLACE,
      }),
    ),
  );
  return countAnswers(await server.load(connections, seconds), "201");
}

/** Does something while so many clients follow the market's stream. */
async function besideWatchers(
  { url }: LoadedServer,
  clients: number,
  work: () => Promise<number>,
): Promise<number> {
  const watchers = startChild<Opening>("change_streams_clients.ts");
  try {
    const path = `/api/v1/markets/${publicId(1)}/stream`;
    watchers.tell({ url, path, clients, gzip: false });
    await watchers.next();
    return await work();
  } finally {
    await watchers.end();
    await delay(SETTLE_MS);
  }
}

/** The server notices that the clients have gone. */
const SETTLE_MS = 500;
