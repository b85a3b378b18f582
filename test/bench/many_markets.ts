import { batchScript, writeBatches } from "./batches.ts";
import { checkAndDrop, expectCount, readNumber, runTpcb, writeScript } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import { fiveShares, makerOrder, randomBetween, restLiquidity, takerOrder } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** Orders of one call, and its markets. */
export const CALL_ORDERS = 64;

/** Calls of orders for as many markets over one connection, against `tpcb-like`. */
export async function measureManyMarkets(bench: Bench): Promise<Result[]> {
  const { sizes } = bench;
  const database = await bench.cluster.createDatabase("many_markets");
  const { pool } = database;
  await prepareMarkets(bench, database);
  const script = await writeScript(bench, database, "batch", batchScript(sizes.batches));

  const orders = () => readNumber(pool, "select count(*) from trading.orders");
  const seeded = await orders();
  let calls = 0;
  const figures = await measureInRounds(sizes, sizes.seconds, {
    name: "many markets",
    reference: (seconds) => runTpcb(bench, seconds),
    ours: async (seconds) => {
      const { perSecond, transactions } = await script({ clients: 1, until: { seconds } });
      calls += transactions;
      return perSecond * CALL_ORDERS;
    },
  });
  expectCount("orders", (await orders()) - seeded, calls * CALL_ORDERS);
  const trades = await readNumber(pool, "select count(*) from trading.trades");
  expectCount("fills", trades, (calls * CALL_ORDERS) / 2);
  await checkAndDrop(database);
  const target =
    `${CALL_ORDERS} orders of ${CALL_ORDERS} different markets in one call, ` +
    "half resting, half crossing, 1 connection / tpcb-like, 8 clients";
  return [{ target, unit: "1/s", must: 1.8, aim: 3, ...figures }];
}

/** Fills the books, and draws the calls. */
export async function prepareMarkets({ sizes }: Bench, { pool }: BenchDatabase): Promise<void> {
  await restLiquidity(pool, sizes.markets);
  const drawBatch = () =>
    drawMarkets(sizes.markets).map((market, place) => ({
      marketId: publicId(market),
      userId: publicId(randomBetween(sizes.markets + 1, sizes.traders)),
      ...(place % 2 === 0 ? makerOrder(fiveShares) : takerOrder(fiveShares)),
    }));
  await writeBatches(pool, Array.from({ length: sizes.batches }, drawBatch));
}

/** Different markets in random order. */
function drawMarkets(markets: number): number[] {
  const drawn = new Set<number>();
  while (drawn.size < CALL_ORDERS) drawn.add(randomBetween(1, markets));
  return [...drawn];
}
