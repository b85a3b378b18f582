import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { readConfig } from "../../src/config.ts";
import { makeServerPools, openPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { checkAndDrop } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import type { Result } from "./report.ts";
import type { Figures } from "./rounds.ts";
import { median } from "./rounds.ts";

const AT_ONCE = 20;
/** The figure of later orders is the median of so many, of which the hundredth is in the middle. */
const BEFORE_LATER = 90;
const LATER = 21;
/** Between orders, so that each is by itself. */
const PAUSE_MS = 20;

/**
 * What the first orders cost that a server process places when it is ready, one by itself and as
 * many at once in as many markets, and the first one after a quiet time, against later ones. From
 * the call of the gatherer to the answer, so that HTTP's own first request does not count.
 *
 * Instead of an hour, the quiet lasts as long as the pools keep connections beyond their minimum,
 * and ends with what PostgreSQL does in an hour: tables are vacuumed and analysed, by which
 * sessions lose their plans, and a checkpoint makes each page's next change cost its image.
 */
export async function measureFirstOrders({ cluster, sizes }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("first_orders", { isServed: true });
  const noFigures = (): Figures => ({ reference: [], ours: [] });
  const [ready, quiet, together] = [noFigures(), noFigures(), noFigures()];
  for (let round = 1; round <= sizes.rounds; round++) {
    await withService(database, async (place) => {
      const first = await place(1);
      const later = await timeLater(place, 1);
      note(ready, "when ready", first, later);
      await delay(sizes.quietSeconds * 1000);
      await database.pool.query("vacuum (analyze)");
      await database.pool.query("checkpoint");
      note(quiet, "after quiet", await place(1), later);
    });
    await withService(database, async (place) => {
      const first = await place(AT_ONCE);
      note(together, `${AT_ONCE} at once`, first, await timeLater(place, AT_ONCE));
    });
  }
  await checkAndDrop(database);
  return [
    {
      target: "the first order of a server that is ready / the hundredth",
      ...{ unit: "ms", must: 5, aim: 2, ...ready },
    },
    {
      target: "the first order after quiet, vacuum, analyze and checkpoint / the hundredth",
      ...{ unit: "ms", must: 5, aim: 2, ...quiet },
    },
    {
      target: `the first ${AT_ONCE} orders at once, in as many markets / the hundredth time`,
      ...{ unit: "ms", must: 3, aim: 2, ...together },
    },
  ];
}

/** Places so many orders at once, one in each market; tells how many milliseconds that took. */
type Place = (count: number) => Promise<number>;

async function withService(
  { connectionString }: BenchDatabase,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  const logger = pino({ level: "silent" });
  const { poolSize } = readConfig({});
  const config = { host: "127.0.0.1", port: 0, trustProxy: false, poolSize };
  const pools = makeServerPools({ connectionString, config, logger });
  await openPools(pools);
  const service = await serve({ pools, config, logger });
  try {
    await work((count) => timeOrders(service, count));
  } finally {
    await service.close();
  }
}

async function timeOrders({ context }: RunningServer, count: number): Promise<number> {
  const began = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      context.orderGatherer.place({
        marketId: publicId(index + 1),
        ...{ userId: publicId(index + 1), side: index % 2 === 0 ? "yes" : "no" },
        ...{ price: 10, quantity: 1, idempotencyKey: randomUUID() },
      }),
    ),
  );
  if (outcomes.some(({ code }) => code !== null)) throw new Error("An order was refused");
  return performance.now() - began;
}

async function timeLater(place: Place, count: number): Promise<number> {
  const times: number[] = [];
  while (times.length < BEFORE_LATER + LATER) {
    await delay(PAUSE_MS);
    times.push(await place(count));
  }
  return median(times.slice(BEFORE_LATER));
}

function note({ reference, ours }: Figures, name: string, first: number, later: number): void {
  ours.push(first);
  reference.push(later);
  console.error(
    `  first orders, ${name}: first ${first.toFixed(1)} ms, the hundredth ${later.toFixed(1)} ms`,
  );
}
