import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { openPools } from "../../src/database/server_pools.ts";
import { makePools, serve } from "../../src/service.ts";
import { readConfig } from "../../src/config.ts";
import { checkLedger } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { Result } from "./report.ts";
import { median } from "./rounds.ts";

const AT_ONCE = 20;
/** Of the orders that come later, as many as it takes for a figure. */
const LATER = 15;

/**
 * What the first orders after a start cost, against later ones: one by itself, and as many at once
 * in as many markets. From the call of the batcher to the answer, so that HTTP's own first request
 * doesn't count.
 */
export async function measureFirstOrders({ cluster, sizes }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("first_orders", { isServed: true });
  const { connectionString } = database;
  const lone = { reference: [] as number[], ours: [] as number[] };
  const together = { reference: [] as number[], ours: [] as number[] };
  const { poolSize } = readConfig({});
  for (let round = 1; round <= sizes.rounds * 2; round++) {
    const figures = round % 2 === 1 ? lone : together;
    const count = round % 2 === 1 ? 1 : AT_ONCE;
    const logger = pino({ level: "silent" });
    const config = { host: "127.0.0.1", port: 0, trustProxy: false, poolSize };
    const pools = makePools({ connectionString, config, logger });
    await openPools(pools);
    const service = await serve(pools, config, logger);
    const place = async (): Promise<number> => {
      const began = performance.now();
      const outcomes = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          service.services.orderGatherer.place({
            marketId: publicId(index + 1),
            ...{ userId: publicId(index + 1), side: index % 2 === 0 ? "yes" : "no" },
            ...{ price: 10, quantity: 1 },
          }),
        ),
      );
      if (outcomes.some(({ code }) => code !== null)) throw new Error("An order was refused");
      return performance.now() - began;
    };
    const first = await place();
    const later: number[] = [];
    while (later.length < LATER) {
      await delay(20);
      later.push(await place());
    }
    figures.ours.push(first);
    figures.reference.push(median(later));
    console.error(
      `  first orders, ${count} at once: first ${first.toFixed(1)} ms, ` +
        `later ${median(later).toFixed(1)} ms`,
    );
    await service.close();
  }
  await checkLedger(database);
  await database.drop();
  return [
    { bar: "the first order after a start / a later one", unit: "ms", must: 3, aim: 2, ...lone },
    {
      bar: `the first ${AT_ONCE} orders after a start, in as many markets / later ones`,
      ...{ unit: "ms", must: 3, aim: 2, ...together },
    },
  ];
}
