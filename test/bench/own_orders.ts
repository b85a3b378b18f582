import type { OrderTerms } from "../../src/database/calls.ts";
import { checkAndDrop } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import { placeMany } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const MARKET = 1;
const [CALLER, OTHER] = [1, 2];
const OWN_ORDERS = 200;
const QUEUE = 10_000;

/** GET /orders of a trader whose orders stand all over one deep queue, the last at its end. */
export async function measureOwnOrders({ sizes, cluster }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("own_orders");
  const { pool } = database;
  const each = QUEUE / OWN_ORDERS;
  const requests = Array.from({ length: QUEUE }, (_, index): OrderTerms => ({
    userId: publicId(index % each === each - 1 ? CALLER : OTHER),
    ...{ side: "yes", price: 10, quantity: 1 },
  }));
  await placeMany(pool, MARKET, requests);
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
  await checkAndDrop(database);
  const queue = QUEUE.toLocaleString("en");
  const target = `GET /orders, ${OWN_ORDERS} own orders in a queue of ${queue}`;
  return [{ target, unit: "ms", must: 30, aim: 15, ours }];
}
