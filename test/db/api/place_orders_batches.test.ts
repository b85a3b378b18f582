import test from "ava";
import fc from "fast-check";
import { testExchange } from "../../helpers/exchange.ts";
import { countFeatures, missingFeatures } from "../../helpers/features.ts";
import { buy, sell } from "../../helpers/orders.ts";
import { play } from "../../helpers/play.ts";
import type { Cast } from "../../helpers/play.ts";
import { programs } from "../../helpers/programs.ts";
import { runs, seed } from "../../helpers/random.ts";

/** The law of the batch: together or one by one in the same order, it comes to the same. */

const exchange = testExchange(test);

async function makeCast(): Promise<Cast> {
  const { clock, giveShares, makeMarkets, makeTrader, rest } = exchange;
  await clock.freeze("2040-01-01T12:00:00Z");
  const markets = await makeMarkets(2);
  const traders: string[] = [];
  for (const cents of [50_000, 4000, 3000, 2500, 9000]) {
    traders.push(await makeTrader({ cents }));
  }
  const [first, second] = markets as [string, string];
  const [rich, ann, bob, cid] = traders as [string, string, string, string];
  await giveShares(first, rich, "yes", 40);
  await giveShares(first, rich, "no", 40);
  await giveShares(first, ann, "yes", 25);
  await giveShares(first, bob, "no", 25);
  await giveShares(first, cid, "yes", 10);
  await giveShares(first, cid, "no", 10);
  await giveShares(second, ann, "no", 10);
  await rest(
    first,
    ann,
    sell("yes", 20, 52),
    sell("yes", 20, 53),
    buy("yes", 9, 48),
    buy("no", 12, 47),
  );
  await rest(
    first,
    bob,
    sell("no", 20, 53),
    sell("no", 24, 54),
    buy("no", 9, 48),
    buy("yes", 12, 46),
  );
  await rest(first, cid, buy("yes", 6, 49), buy("no", 6, 49), sell("yes", 10, 54));
  return { markets, traders };
}

test.serial("a batch comes to what its requests would have come to one by one", async (t) => {
  const cast = await makeCast();
  const features = new Map<string, number>();
  const settings = { seed: seed(), numRuns: runs(60) };
  t.log(`PROPERTY_SEED=${settings.seed} PROPERTY_RUNS=${settings.numRuns}`);
  await exchange.withRollback(async (client) => {
    const law = fc.asyncProperty(
      programs({ traders: cast.traders.length, markets: cast.markets.length }),
      async (program) => {
        const playAndUndo = async (placing: "together" | "one by one") => {
          await client.query("savepoint before_play");
          try {
            return await play(client, cast, program, placing);
          } finally {
            await client.query("rollback to savepoint before_play");
          }
        };
        const oneByOne = await playAndUndo("one by one");
        const together = await playAndUndo("together");
        t.deepEqual(oneByOne.broken, []);
        t.deepEqual(together.broken, []);
        t.deepEqual(together.outcomes, oneByOne.outcomes);
        t.deepEqual(together.state, oneByOne.state);
        countFeatures(features, oneByOne);
      },
    );
    await fc.assert(law, settings);
  });
  t.log([...features].map(([name, count]) => `${name}: ${count}`).join("\n"));
  t.deepEqual(missingFeatures(features), []);
});
