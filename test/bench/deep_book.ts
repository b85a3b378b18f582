import type { OrderTerms } from "../../src/database/calls.ts";
import { checkAndDrop, writeScript } from "./bench.ts";
import type { Bench, Script } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import { placeMany, randomBetween, restingScript, takingScript } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const SHALLOW_MARKET = 1;
const DEEP_MARKET = 2;

/** What one client does with a book, and how long that takes in a deep one and in a shallow one. */
interface Action {
  name: string;
  script: (market: number) => string[];
}

/** The same actions in a deep book and in a shallow one, one client, time of each. */
export async function measureDeepBook(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const database = await cluster.createDatabase("deep_book");
  const traders = tradersOf(sizes.traders);
  await fillBook(database, SHALLOW_MARKET, sizes.shallowBookOrders, traders.makers);
  await fillBook(database, DEEP_MARKET, sizes.deepBookOrders, traders.makers);
  await database.pool.query("vacuum (analyze)");

  const readMarket = (name: string) => (market: number) => [
    `select version, body from api.${name}(market_id => '${publicId(market)}');`,
  ];
  const actions: Action[] = [
    { name: "rest", script: (market) => restingScript([market, market], traders.resters) },
    { name: "cross", script: (market) => takingScript([market, market], traders.takers) },
    { name: "top of book", script: readMarket("get_market") },
    { name: "depth", script: readMarket("get_order_book") },
  ];

  const results: Result[] = [];
  for (const { name, script } of actions) {
    const write = async (market: number) =>
      await writeScript(bench, database, `${name.replaceAll(" ", "_")}_${market}`, script(market));
    const [shallow, deep] = [await write(SHALLOW_MARKET), await write(DEEP_MARKET)];
    const time = (run: Script) => async (seconds: number) => {
      const { latencyMs } = await run({ clients: 1, until: { seconds } });
      if (name === "rest") await cancelOrders(database, traders.resters);
      return latencyMs;
    };
    const figures = await measureInRounds(sizes, sizes.latencySeconds, {
      name: `deep book, ${name}`,
      reference: time(shallow),
      ours: time(deep),
    });
    const [more, fewer] = [sizes.deepBookOrders, sizes.shallowBookOrders].map((orders) =>
      orders.toLocaleString("en"),
    );
    const target = `${name}, book of ${more ?? ""} / of ${fewer ?? ""} resting orders`;
    results.push({ target, unit: "ms", must: 1.3, aim: 1.1, ...figures });
  }
  await checkAndDrop(database);
  return results;
}

/** Three kinds that never meet themselves. */
function tradersOf(count: number): Record<"makers" | "takers" | "resters", [number, number]> {
  const third = Math.floor(count / 3);
  return {
    makers: [1, third],
    takers: [third + 1, 2 * third],
    resters: [2 * third + 1, 3 * third],
  };
}

/** Orders over all prices below the middle, each too large to be used up by the takers. */
async function fillBook(
  { pool }: BenchDatabase,
  market: number,
  orders: number,
  makers: [number, number],
): Promise<void> {
  const requests = Array.from({ length: orders }, (_, index): OrderTerms => ({
    userId: publicId(randomBetween(...makers)),
    side: index % 2 === 0 ? "yes" : "no",
    price: 1 + (Math.floor(index / 2) % 45),
    quantity: 10_000,
  }));
  await placeMany(pool, market, requests);
}

/** Takes out of the books what a measurement put there, so that they stay as deep as they were. */
async function cancelOrders({ pool }: BenchDatabase, traders: [number, number]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set synchronous_commit = off");
    const { rows } = await client.query(
      `select u.public_id as user_id, o.public_id as order_id
       from trading.active_orders as b
       join trading.orders as o on o.id = b.order_id
       join identity.users as u on u.id = b.user_id
       where u.public_id between $1 and $2`,
      traders.map(publicId),
    );
    for (const { user_id: userId, order_id: orderId } of rows) {
      await client.query({
        name: "cancel",
        text: "select api.run_command('cancel', user_id => $1, order_id => $2)",
        values: [userId, orderId],
      });
    }
  } finally {
    client.release(true);
  }
}
