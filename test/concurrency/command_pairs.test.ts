import test from "ava";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { contend, failure, neverDeadlocked } from "../helpers/exchange/contention.ts";
import { keyedCommands, newKey } from "../helpers/exchange/keyed_commands.ts";
import type { Done } from "../helpers/exchange/keyed_commands.ts";
import { buy, sell } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { effort } from "../helpers/random.ts";

/**
 * Each command at the same moment as each other one, of the same users in the same markets. Each
 * is sent twice, from two connections: with its key it is carried out once.
 */

const exchange = testExchange(test, { sessions: 20 });
const contention = contend(exchange);
const commands = keyedCommands(exchange, contention);
const { operate } = exchange;

/** Three plain markets and a live one, all of whose orders are due at once. */
interface Place {
  plain: [string, string, string];
  live: string;
  markets: string[];
}

/** Two users who have orders and shares everywhere, and a switch that has expired. */
interface Scene extends Place {
  ann: string;
  bob: string;
  /** Of ann, resting in the plain markets. */
  own: [string, string, string];
}

/** How a command is sent; called once, and then what it returns is called twice. */
type Kind = (scene: Scene) => () => Promise<Done | number | string | null>;

const kinds: Record<string, Kind> = {
  "an order": ({ plain, ann }) => {
    const order = { marketId: plain[0], userId: ann, ...buy("yes", 3, 60), ...newKey() };
    return () =>
      contention.insist(() =>
        withClient(exchange.api, async (client) => {
          const orders = [order];
          const rows = await call(client, api.placeOrders, { orders, atomic: false, waits: true });
          return rows[0]!;
        }),
      );
  },
  "fok orders that cancel own orders": ({ plain, ann }) => {
    const terms = { timeInForce: "fok", selfTrade: "cancel_resting" } as const;
    const orders = plain.map((marketId) => ({ marketId, ...buy("yes", 2, 61, terms) }));
    const key = newKey();
    return () => commands.placeBatch(ann, orders, key);
  },
  "a batch": ({ markets, bob }) => {
    const orders = markets.flatMap((marketId) => [
      { marketId, ...buy("yes", 2, 60) },
      { marketId, ...sell("yes", 1, 58) },
    ]);
    const key = newKey();
    return () => commands.placeBatch(bob, orders, key);
  },
  "an atomic batch": ({ plain, bob }) => {
    const orders = plain.map((marketId) => ({ marketId, ...buy("no", 1, 40) })).reverse();
    const key = newKey();
    return () => commands.placeBatch(bob, orders, key, true);
  },
  "an amendment": ({ ann, own }) => {
    const key = newKey();
    return () => commands.run("amend", ann, { orderId: own[0], price: 41 }, key);
  },
  "a cancel": ({ ann, own }) => {
    const key = newKey();
    return () => commands.run("cancel", ann, { orderId: own[0] }, key);
  },
  "a cancel of some orders": ({ ann, own }) => {
    const key = newKey();
    return () => commands.cancelBatch(ann, [...own].reverse(), key);
  },
  "a cancel of all orders": ({ ann }) => {
    const key = newKey();
    return () => commands.cancelAll(ann, key);
  },
  "a cancel of all orders in a market": ({ ann, plain }) => {
    const key = newKey();
    return () => commands.cancelAll(ann, key, plain[1]);
  },
  "a split": ({ ann, plain }) => {
    const key = newKey();
    return () => commands.run("split", ann, { marketId: plain[0], quantity: 2 }, key);
  },
  "a merge": ({ ann, plain }) => {
    const key = newKey();
    return () => commands.run("merge", ann, { marketId: plain[0], quantity: 1 }, key);
  },
  "a switch that is set": ({ ann }) => {
    const key = newKey();
    return () => commands.setDeadMan(ann, 300_000, key);
  },
  "a switch that fires": () => () => commands.fire(),
  "a release": ({ live }) => {
    return () => contention.insist(() => exchange.release(live));
  },
  "a self-exclusion": ({ bob }) => {
    const values = { user_id: bob, until: new Date(Date.now() + 100) };
    return () => contention.insist(() => failure(operate("self_exclude", values)));
  },
  "a market that closes and opens": ({ plain }) => {
    const set = (status: string) =>
      contention.insist(() =>
        failure(operate("set_market_status", { market_id: plain[1], status })),
      );
    return async () => {
      await set("closed");
      return set("open");
    };
  },
};

let place: Place;
let traders: string[];

test.before("make markets and traders", async () => {
  const [one, two, three] = await exchange.makeMarkets(3);
  const { market: live } = await exchange.makeLiveMarket({ live_delay_ms: 0 });
  place = { plain: [one, two, three], live, markets: [one, live, two, three] };
  traders = await exchange.makeTraders(2, { cents: 100_000_000 });
  for (const market of place.markets) {
    for (const trader of traders) await exchange.split(market, trader, 2000);
  }
});

async function makeScene(): Promise<Scene> {
  const [ann, bob] = traders as [string, string];
  await exchange.database.pool.query(
    // No exclusion lasts longer than 100 ms.
    `select pg_sleep(extract(epoch from t.excluded_until - core.now()))
     from trading.traders as t
     where t.public_id = $1 and t.excluded_until > core.now()`,
    [bob],
  );
  for (const trader of traders) await commands.cancelAll(trader);
  const own: string[] = [];
  for (const market of place.plain) {
    const placed = await exchange.placeBatch(market, [
      [ann, buy("no", 5, 40)],
      [bob, buy("no", 5, 39)],
    ]);
    own.push(placed[0]!.answer!.order.id);
  }
  await exchange.place(place.live, ann, buy("yes", 2, 45));
  await exchange.place(place.live, bob, buy("no", 2, 55));
  await exchange.database.pool.query(
    `insert into trading.dead_man_switches (user_id, expires_at)
     select t.user_id, core.now() - interval '1 ms' from trading.traders as t
     where t.public_id = $1
     on conflict (user_id) do update
     set expires_at = excluded.expires_at, fired_at = null, last_order_id = null`,
    [ann],
  );
  return { ...place, ann, bob, own: own as Scene["own"] };
}

/** Orders and conversions that are there. */
async function countRows(): Promise<{ orders: number; conversions: number }> {
  const { rows } = await exchange.database.pool.query(
    `select (select count(*) from trading.orders) as orders,
       (select count(*) from trading.set_conversions) as conversions`,
  );
  return rows[0];
}

/** A batch of which nothing was accepted does nothing, and an atomic one keeps no answer. */
function isAccepted({ code, body }: Done): boolean {
  if (code !== null) return false;
  const { results } = JSON.parse(body!);
  return results === undefined || results.some((result: Done) => result.body !== null);
}

/** The answer, which a repetition repeats; of an order only its id. */
function whatIsSaid({ body }: Done): string {
  const { order, cancelledOrders } = JSON.parse(body!);
  return cancelledOrders === undefined ? body! : order.id;
}

/** How many orders and conversions the answer to a command says that it made. */
function madeBy({ body }: Done): { orders: number; conversions: number } {
  const found = JSON.parse(body!);
  if (found.results) {
    const results: Done[] = found.results;
    return { orders: results.filter((result) => result.body !== null).length, conversions: 0 };
  }
  const isNew =
    found.order !== undefined && (found.amended === undefined || found.queuePositionChanged);
  const isCancel = found.order?.status === "cancelled" && found.fills === undefined;
  return {
    orders: isNew && !isCancel ? 1 : 0,
    conversions: found.positions === undefined ? 0 : 1,
  };
}

const names = Object.keys(kinds);
for (const [index, first] of names.entries()) {
  test.serial(`${first} beside everything else: once, and no deadlock`, async (t) => {
    t.timeout(120_000);
    for (const second of names.slice(index)) {
      for (let round = 0; round < effort(3); round++) {
        const scene = await makeScene();
        const before = await countRows();
        const [one, other] = [kinds[first]!(scene), kinds[second]!(scene)];
        const answers = await contention.together([one, other, one, other] as const);
        const made = { orders: 0, conversions: 0 };
        for (const twins of [
          [answers[0], answers[2]],
          [answers[1], answers[3]],
        ]) {
          const accepted = twins
            .filter((answer) => answer !== null && typeof answer === "object")
            .filter(isAccepted);
          const carriedOut = accepted.filter(({ replayed }) => !replayed);
          const said = new Set(accepted.map(whatIsSaid));
          const most = Math.min(1, accepted.length);
          t.deepEqual([carriedOut.length, said.size], [most, most], `${first}, ${second}`);
          for (const done of carriedOut) {
            const { orders, conversions } = madeBy(done);
            made.orders += orders;
            made.conversions += conversions;
          }
        }
        const after = await countRows();
        t.deepEqual(
          {
            orders: after.orders - before.orders,
            conversions: after.conversions - before.conversions,
          },
          made,
          `${first}, ${second}`,
        );
      }
    }
    t.deepEqual(await exchange.verify(), []);
    neverDeadlocked(t, contention);
  });
}
