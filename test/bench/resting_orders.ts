import { CLIENTS, checkLedger, expectCount, readNumber, runTpcb, writeScript } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { restingScript } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** One order a call that comes to rest, in many markets, against `tpcb-like`. */
export async function measureRestingOrders(bench: Bench): Promise<Result[]> {
  const { sizes } = bench;
  const database = await bench.cluster.createDatabase("resting_orders");
  const script = await writeScript(
    bench,
    database,
    "rest",
    restingScript([1, sizes.markets], [1, sizes.traders]),
  );
  let calls = 0;
  const figures = await measureInRounds(sizes, sizes.seconds, {
    name: "resting orders",
    reference: (seconds) => runTpcb(bench, seconds),
    ours: async (seconds) => {
      const { perSecond, transactions } = await script({ clients: CLIENTS, until: { seconds } });
      calls += transactions;
      return perSecond;
    },
  });
  const resting = await readNumber(database.pool, "select count(*) from trading.active_orders");
  expectCount("resting orders", resting, calls);
  await checkLedger(database);
  await database.drop();
  return [
    {
      target: `one order a call, resting, ${sizes.markets} markets, ${CLIENTS} clients / tpcb-like`,
      unit: "1/s",
      must: 0.7,
      aim: 1,
      ...figures,
    },
  ];
}
