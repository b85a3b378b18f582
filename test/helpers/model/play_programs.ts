import type { ExecutionContext } from "ava";
import fc from "fast-check";
import { createExchange } from "../exchange/test_exchange.ts";
import type { Exchange } from "../exchange/test_exchange.ts";
import { effort, seed } from "../random.ts";
import { patienceMs } from "./laws.ts";
import { makeCast, play } from "./play.ts";
import type { Cast, Placing } from "./play.ts";
import { opening, programs } from "./programs.ts";

/** Plays random programs, each on an exchange of its own that is sound at the end. */
export async function playPrograms(
  t: ExecutionContext,
  placingOn: (exchange: Exchange, cast: Cast) => Placing | Promise<Placing>,
): Promise<void> {
  const settings = { seed: seed(), numRuns: effort(3) };
  t.timeout(patienceMs());
  for (const program of fc.sample(programs(), settings)) {
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
