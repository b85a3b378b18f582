import { CLIENTS, checkAndDrop, expectCount, readNumber, runTpcb, writeScript } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { restLiquidity, restingScript, takingScript } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** One order a call that comes to rest, in many markets, against `tpcb-like`. */
export async function measureRestingOrders(bench: Bench): Promise<Result[]> {
  const { markets, traders } = bench.sizes;
  return await measureLoneOrders(bench, {
    name: "resting orders",
    liquidity: 0,
    lines: restingScript([1, markets], [1, traders]),
    counted: "trading.active_orders",
    kind: "resting",
    ...{ must: 0.7, aim: 1 },
  });
}

/** One order a call that is filled by one match, in many markets, against `tpcb-like`. */
export async function measureLoneFills(bench: Bench): Promise<Result[]> {
  const { markets, traders } = bench.sizes;
  return await measureLoneOrders(bench, {
    name: "lone fills",
    liquidity: markets,
    lines: takingScript([1, markets], [markets + 1, traders]),
    counted: "trading.trades",
    kind: "one fill each",
    ...{ must: 0.4, aim: 0.7 },
  });
}

interface LoneOrders extends Pick<Result, "must" | "aim"> {
  name: string;
  /** The number of markets with orders to take. */
  liquidity: number;
  /** The script of one call. */
  lines: string[];
  /** The table that gets a row with each call. */
  counted: string;
  kind: string;
}

async function measureLoneOrders(
  bench: Bench,
  { name, liquidity, lines, counted, kind, must, aim }: LoneOrders,
): Promise<Result[]> {
  const { sizes } = bench;
  const database = await bench.cluster.createDatabase(name.replace(" ", "_"));
  await restLiquidity(database.pool, liquidity);
  const script = await writeScript(bench, database, "orders", lines);
  let calls = 0;
  const figures = await measureInRounds(sizes, sizes.seconds, {
    name,
    reference: (seconds) => runTpcb(bench, seconds),
    ours: async (seconds) => {
      const { perSecond, transactions } = await script({ clients: CLIENTS, until: { seconds } });
      calls += transactions;
      return perSecond;
    },
  });
  expectCount(name, await readNumber(database.pool, `select count(*) from ${counted}`), calls);
  await checkAndDrop(database);
  const target = `one order a call, ${kind}, ${sizes.markets} markets, ${CLIENTS} clients / tpcb-like`;
  return [{ target, unit: "1/s", must, aim, ...figures }];
}
