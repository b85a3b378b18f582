import type { ExecutionContext } from "ava";
import fc from "fast-check";
import { createExchange } from "../exchange/test_exchange.ts";
import type { Exchange } from "../exchange/test_exchange.ts";
import { effort, seed } from "../random.ts";
import { patienceMs } from "./laws.ts";
import { makeCast, play } from "./play.ts";
import type { Cast, Placing } from "./play.ts";
import { opening, programs } from "./programs.ts";

/** How many more programs are played for what has not occurred. */
const PATIENCE = 20;

/**
 * Plays random programs, each on an exchange of its own that is sound at the end, and goes on until
 * all that the test must see has occurred.
 */
export async function playPrograms(
  t: ExecutionContext,
  placingOn: (exchange: Exchange, cast: Cast) => Placing | Promise<Placing>,
  hasSeenAll: () => boolean,
): Promise<void> {
  const usual = effort(3);
  const settings = { seed: seed(), numRuns: usual + PATIENCE };
  t.timeout(patienceMs());
  for (const [number, program] of fc.sample(programs(), settings).entries()) {
    if (number >= usual && hasSeenAll()) return;
    const exchange = await createExchange();
    try {
      const cast = await makeCast(exchange);
      const placing = await placingOn(exchange, cast);
      const client = await exchange.database.pool.connect();
      try {
        await play(client, cast, [...opening(), ...program], placing);
        t.deepEqual(await exchange.verify(), []);
      } finally {
        client.release();
      }
    } finally {
      await exchange.database.drop();
    }
  }
}
