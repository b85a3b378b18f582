import test from "ava";
import { testExchange } from "../../helpers/exchange.ts";
import { countFeatures, missingFeatures } from "../../helpers/features.ts";
import { makeCast, playAndUndo, withoutIds } from "../../helpers/play.ts";
import type { Played } from "../../helpers/play.ts";
import { expectSame, holds } from "../../helpers/random.ts";

/** The law of the batch: together or one by one in the same order, it comes to the same. */

const exchange = testExchange(test);

test("a batch comes to what its requests would have come to one by one", async (t) => {
  const cast = await makeCast(exchange);
  const features = new Map<string, number>();
  await holds(t, 60, async (program) => {
    const oneByOne = await playAndUndo(exchange, cast, program, "one by one");
    const together = await playAndUndo(exchange, cast, program, "together");
    expectSame("broken one by one", oneByOne.broken, []);
    expectSame("broken together", together.broken, []);
    const [found, expected] = [withoutIds(together, cast), withoutIds(oneByOne, cast)];
    expectSame("outcome", found.outcomes, expected.outcomes);
    // A batch tells of its fills first; what is told is the same.
    expectSame("event", sorted(found.events), sorted(expected.events));
    for (const [table, rows] of Object.entries(oneByOne.state)) {
      expectSame(table, together.state[table as keyof Played["state"]], rows);
    }
    countFeatures(features, oneByOne);
  });
  t.log([...features].map(([name, count]) => `${name}: ${count}`).join("\n"));
  t.deepEqual(missingFeatures(features), []);
});

function sorted(events: unknown[]): string[] {
  return events.map((event) => JSON.stringify(event)).sort();
}
