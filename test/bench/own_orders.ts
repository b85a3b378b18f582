import type { OrderTerms } from "../../src/database/calls.ts";
import { checkLedger } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import { place } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const MARKET = 1;
const [CALLER, OTHER] = [1, 2];
const OWN_ORDERS = 200;
const QUEUE = 10_000;
const BATCH = 500;

/** GET /orders of a trader whose orders stand all over one deep queue, the last at its end. */
export async function measureOwnOrders({ sizes, cluster }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("own_orders");
  const { pool } = database;
  const each = QUEUE / OWN_ORDERS;
  const requests = Array.from({ length: QUEUE }, (_, index): OrderTerms => ({
    userId: publicId(index % each === each - 1 ? CALLER : OTHER),
    ...{ side: "yes", price: 10, quantity: 1 },
  }));
  for (let first = 0; first < QUEUE; first += BATCH) {
    await place(pool, MARKET, requests.slice(first, first + BATCH));
  }
  await pool.query("vacuum (analyze)");
  const { ours } = await measureInRounds(sizes, sizes.latencySeconds, {
    name: "own orders",
    ours: async (seconds) => {
      const began = performance.now();
      let calls = 0;
      do {
        await pool.query("select api.list_orders(user_id => $1)", [publicId(CALLER)]);
        calls++;
      } while (performance.now() - began < 1000 * seconds);
      return (performance.now() - began) / calls;
    },
  });
  await checkLedger(database);
  await database.drop();
  const queue = QUEUE.toLocaleString("en");
  const target = `GET /orders, ${OWN_ORDERS} own orders in a queue of ${queue}`;
  return [{ target, unit: "ms", must: 30, aim: 15, ours }];
}
