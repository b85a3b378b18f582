import test from "ava";
import { testExchange } from "../../helpers/exchange.ts";
import { countFeatures, missingFeatures } from "../../helpers/features.ts";
import { expectSamePlay, makeCast, oneByOne, playAndUndo, together } from "../../helpers/play.ts";
import { holds } from "../../helpers/random.ts";

/**
 * The law of the batch: together or one by one in the same order, it comes to the same, in one
 * market or in several.
 */

const exchange = testExchange(test);

test("a batch comes to what its requests would have come to one by one", async (t) => {
  t.timeout(240_000);
  const cast = await makeCast(exchange);
  const features = new Map<string, number>();
  await holds(t, 60, async (program) => {
    const alone = await playAndUndo(exchange, cast, program, oneByOne);
    const batched = await playAndUndo(exchange, cast, program, together);
    expectSamePlay(batched, alone, cast);
    countFeatures(features, batched);
  });
  t.log([...features].map(([name, count]) => `${name}: ${count}`).join("\n"));
  t.deepEqual(missingFeatures(features), []);
});
