import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { countTpcb, readNumber } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { openHttp } from "./http_exchange.ts";
import { CLIENTS, halfCrossing, makeLoad, ORDERS_PATH } from "./order_load.ts";
import type { Draw } from "./order_load.ts";
import { randomBetween, restDepth, restLiquidity } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** Of the orders that are not alone and not in one market. */
const MARKETS = 200;
/** What an order leaves for later is done by then: its events are sent, its key's use is noted. */
const SETTLING_MS = 300;

/**
 * The processor time of all processes of PostgreSQL for an order over HTTP, with what its server does
 * for it, against that of a `tpcb-like` transaction. On a busy machine it says more than a rate. There
 * is no worker, and autovacuum counts where it falls.
 */
export async function measureCpuOfPostgres(bench: Bench): Promise<Result[]> {
  const { sizes } = bench;
  const firstTrader = sizes.markets + 1;
  const exchange = await openHttp(bench, "http_cpu", { clients: CLIENTS, firstTrader });
  const kinds: { name: string; draw: Draw; isAlone?: boolean; must: number; aim: number }[] = [
    {
      name: "one connection, resting",
      draw: () => ({ market: anyOf(sizes.markets), side: "yes", price: 10, quantity: 1 }),
      isAlone: true,
      ...{ must: 4, aim: 2 },
    },
    {
      name: "one connection, filled by one match",
      draw: () => ({ market: anyOf(sizes.markets), side: "yes", price: 55, quantity: 1 }),
      isAlone: true,
      ...{ must: 6, aim: 3 },
    },
    {
      name: `${CLIENTS} clients, many markets`,
      draw: (client) => ({
        market: anyOf(Math.min(MARKETS, sizes.markets)),
        ...halfCrossing(client),
      }),
      ...{ must: 0.85, aim: 0.6 },
    },
    {
      name: `${CLIENTS} clients, one hot market`,
      draw: (client) => ({ market: 1, ...halfCrossing(client) }),
      ...{ must: 0.7, aim: 0.5 },
    },
  ];
  try {
    await restLiquidity(exchange.database.pool, sizes.markets);
    await restDepth(exchange.database.pool, 1, CLIENTS / 2);
    const results: Result[] = [];
    for (const { name, draw, isAlone = false, must, aim } of kinds) {
      const load = await makeLoad(exchange, draw, { isAlone });
      await untilSent(exchange.database.pool);
      const costOf = await cpuCounter(bench);
      const figures = await measureInRounds(sizes, sizes.seconds, {
        name: `processor time of PostgreSQL, ${name}`,
        reference: (seconds) => costOf(() => countTpcb(bench, seconds)),
        ours: (seconds) => costOf(async () => (await load.run(ORDERS_PATH, seconds)).answers),
      });
      await load.check();
      const target = `processor time of PostgreSQL for an order over HTTP, ${name} / a tpcb-like transaction`;
      results.push({ target, unit: "µs", must, aim, ...figures });
    }
    return results;
  } finally {
    await exchange.close();
  }
}

/** What one piece of some work costs the cluster, in microseconds, without what it uses anyway. */
async function cpuCounter({
  cluster,
}: Bench): Promise<(work: () => Promise<number>) => Promise<number>> {
  const used = async (work: () => Promise<unknown>) => {
    const [before, began] = [await cluster.processorMs(), performance.now()];
    await work();
    return { cpu: (await cluster.processorMs()) - before, took: performance.now() - began };
  };
  const idle = await used(() => delay(10 * SETTLING_MS));
  return async (work) => {
    let pieces = 0;
    const { cpu, took } = await used(async () => {
      pieces = await work();
      await delay(SETTLING_MS);
    });
    return ((cpu - (took * idle.cpu) / idle.took) * 1000) / pieces;
  };
}

/** The events of what came before are sent by then. */
async function untilSent(pool: Pool): Promise<void> {
  while ((await readNumber(pool, "select count(*) from trading.outbox")) > 0) await delay(100);
  await delay(SETTLING_MS);
}

function anyOf(markets: number): number {
  return randomBetween(1, markets);
}
