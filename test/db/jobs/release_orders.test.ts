import test from "ava";
import { buy } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { leaveCash } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What is counted of a scheduled order whose release takes several calls. */

const exchange = testExchange(test);
const { clock, makeTraders, operate, order, place } = exchange;

const withdraw = (trader: string, leave: number) => leaveCash(exchange, trader, leave);

/**
 * A live market with 650 one-share orders at 60 of a maker without cash for more than `paid` of
 * them, and the orders of two takers that are due.
 */
async function makeLongWay(paid: number, request: Request) {
  await clock.freeze("2035-05-05T12:00:00Z");
  const { market, event } = await exchange.makeLiveMarket();
  const [ann, bob, taker, other] = await makeTraders(4);
  await operate("set_event_live", { event_id: event, live: false });
  for (const length of [200, 200, 200, 50]) {
    const batch = Array.from({ length }, (): [string, Request] => [ann, buy("no", 1, 60)]);
    for (const { code } of await exchange.placeBatch(market, batch)) {
      if (code !== null) throw new Error(`rejected: ${code}`);
    }
  }
  await exchange.rest(market, bob, buy("no", 5, 59));
  await withdraw(ann, 60 * paid + 59);
  await operate("set_event_live", { event_id: event, live: true });
  const first = (await place(market, taker, request)).order.id;
  const second = (await place(market, other, buy("yes", 1, 1))).order.id;
  await clock.advance(3000);
  return {
    taker,
    call: async () => {
      const { rows } = await exchange.database.pool.query(
        `select jobs.release_orders(m.id) as count
         from catalog.markets as m where m.public_id = $1`,
        [market],
      );
      return rows[0].count as number;
    },
    statuses: async () => [(await order(taker, first)).status, (await order(other, second)).status],
  };
}

test.serial("a call returns also those of the due orders that stay due", async (t) => {
  const { call, statuses } = await makeLongWay(0, buy("yes", 5, 41));
  t.is(await call(), 2);
  t.deepEqual(await statuses(), ["scheduled", "scheduled"]);
  t.is(await call(), 2);
  t.deepEqual(await statuses(), ["filled", "open"]);
  t.is(await call(), 0);
});

test.serial("admin.run_due counts an order once, however many calls it takes", async (t) => {
  const { statuses } = await makeLongWay(0, buy("yes", 5, 41));
  t.like(await operate("run_due"), { released: 2 });
  t.deepEqual(await statuses(), ["filled", "open"]);
});

for (const [what, request] of [
  ["filled or killed", buy("yes", 6, 41, { timeInForce: "fok" })],
  ["without the cash for all of it", buy("yes", 1000, 41)],
] as const) {
  test.serial(`admin.run_due ends when a release gets no further: ${what}`, async (t) => {
    const { taker } = await makeLongWay(1, request);
    await withdraw(taker, 1000);
    await t.notThrowsAsync(operate("run_due"));
  });
}
