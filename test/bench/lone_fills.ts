import { CLIENTS, checkLedger, expectCount, readNumber, runTpcb, writeScript } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { restLiquidity, takingScript } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** One order a call that is filled by one match, in many markets, against `tpcb-like`. */
export async function measureLoneFills(bench: Bench): Promise<Result[]> {
  const { sizes } = bench;
  const database = await bench.cluster.createDatabase("lone_fills");
  await restLiquidity(database.pool, sizes.markets);
  const script = await writeScript(
    bench,
    database,
    "take",
    takingScript([1, sizes.markets], [sizes.markets + 1, sizes.traders]),
  );
  let calls = 0;
  const figures = await measureInRounds(sizes, sizes.seconds, {
    name: "lone fills",
    reference: (seconds) => runTpcb(bench, seconds),
    ours: async (seconds) => {
      const { perSecond, transactions } = await script({ clients: CLIENTS, until: { seconds } });
      calls += transactions;
      return perSecond;
    },
  });
  const trades = await readNumber(database.pool, "select count(*) from trading.trades");
  expectCount("fills", trades, calls);
  await checkLedger(database);
  await database.drop();
  return [
    {
      target: `one order a call, one fill each, ${sizes.markets} markets, ${CLIENTS} clients / tpcb-like`,
      unit: "1/s",
      must: 0.4,
      aim: 0.7,
      ...figures,
    },
  ];
}
