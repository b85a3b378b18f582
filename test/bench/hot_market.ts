import { checkAndDrop, readNumber, runTpcb, writeScript } from "./bench.ts";
import type { Bench } from "./bench.ts";
import type { BenchDatabase } from "./cluster.ts";
import { batchScript, writeBatches } from "./batches.ts";
import { publicId } from "./catalogue.ts";
import {
  fiveShares,
  makerOrder,
  randomBetween,
  restDepth,
  takerOrder,
  upToTenShares,
} from "./orders.ts";
import type { DrawQuantity } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** Orders of one call: what the server gathers at most. */
export const BATCH_ORDERS = 200;

/** Of a batch's orders, those that may be refused before the figure is one of something else. */
const MOST_REFUSED = 0.01;

/** Batches for one hot market over one connection, orders against transactions of `tpcb-like`. */
export async function measureHotMarket(bench: Bench): Promise<Result[]> {
  return [
    await measureBatches(bench, "orders of one size", fiveShares),
    await measureBatches(bench, "orders of many sizes", upToTenShares),
  ];
}

async function measureBatches(bench: Bench, sizesOf: string, draw: DrawQuantity): Promise<Result> {
  const { sizes } = bench;
  const database = await bench.cluster.createDatabase("hot_market");
  const { pool } = database;
  await prepareBatches(bench, database, draw);
  const script = await writeScript(bench, database, "batch", batchScript(sizes.batches));

  const seeded = await countOrders(database);
  const figures = await measureInRounds(sizes, sizes.seconds, {
    name: `hot market, ${sizesOf}`,
    reference: (seconds) => runTpcb(bench, seconds),
    ours: async (seconds) => {
      const before = await countOrders(database);
      const { perSecond, transactions } = await script({ clients: 1, until: { seconds } });
      const accepted = ((await countOrders(database)) - before) / (transactions * BATCH_ORDERS);
      if (accepted < 1 - MOST_REFUSED) throw new Error(`Only ${accepted} of the orders were taken`);
      return perSecond * BATCH_ORDERS * accepted;
    },
  });
  const trades = await readNumber(pool, "select count(*) from trading.trades");
  const fillsPerOrder = (trades / ((await countOrders(database)) - seeded)).toFixed(2);
  await checkAndDrop(database);
  return {
    target:
      `one hot market, batches of ${BATCH_ORDERS}, half resting, half crossing, ${sizesOf} ` +
      `(${fillsPerOrder} fills an order), 1 connection / tpcb-like, 8 clients`,
    unit: "1/s",
    must: 3.2,
    aim: 5,
    ...figures,
  };
}

/** A deep enough book in market 1, and a table of batches for it: makers and takers by turns. */
export async function prepareBatches(
  { sizes }: Bench,
  { pool }: BenchDatabase,
  draw: DrawQuantity,
): Promise<void> {
  const makers = Math.min(500, sizes.traders / 2);
  await restDepth(pool, 1, makers, draw);
  const drawBatch = () =>
    Array.from({ length: BATCH_ORDERS }, (_, place) => ({
      marketId: publicId(1),
      ...(place % 2 === 0
        ? { userId: publicId(randomBetween(1, makers)), ...makerOrder(draw) }
        : { userId: publicId(randomBetween(makers + 1, 2 * makers)), ...takerOrder(draw) }),
    }));
  await writeBatches(pool, Array.from({ length: sizes.batches }, drawBatch));
}

async function countOrders({ pool }: BenchDatabase): Promise<number> {
  return await readNumber(pool, "select count(*) from trading.orders");
}
