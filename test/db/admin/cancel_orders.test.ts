import test from "ava";
import { pagesRead } from "../../helpers/database/plans.ts";
import { restUntilExpiry, scatterOrders } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, clock, makeLiveMarket, makeMarket, makeMarketWith, makeMarkets } = exchange;
const { makeTrader, makeTraders, operate, order, place, rest, version } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

const cancel = (user_id: string, market_id?: string) =>
  operate("cancel_orders", market_id === undefined ? { user_id } : { user_id, market_id });

test("resting and scheduled orders of all markets; other users' stay", async (t) => {
  const { one, two, live, ann, part, orders } = await scatterOrders(exchange);
  const before = [await version(one), await version(two), await version(live)] as const;
  t.is(await cancel(ann), 5);
  for (const id of orders) {
    t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_cancelled" });
  }
  t.is((await order(ann, part)).filledQuantity, 2);
  t.deepEqual(await book(one), { bids: ["4 @ 40"], asks: [] });
  // One change of each market whose book it was, however many orders left it.
  const after = [await version(one), await version(two), await version(live)];
  t.deepEqual(after, [before[0] + 1, before[1] + 1, before[2]]);
  t.is(await cancel(ann), 0);
  await rest(two, ann, buy("no", 3, 40));
});

test("in one market", async (t) => {
  const [one, two, three] = await makeMarkets(3);
  const ann = await makeTrader();
  await rest(one, ann, buy("yes", 1, 40), buy("no", 1, 40));
  await rest(two, ann, buy("yes", 1, 40));
  t.is(await cancel(ann, three), 0);
  t.is(await cancel(ann, one), 2);
  t.deepEqual(await book(one), { bids: [], asks: [] });
  t.deepEqual(await book(two), { bids: ["1 @ 40"], asks: [] });
});

test("the owner gets order_cancelled for each order", async (t) => {
  const market = await makeMarket({ title: "Sun?" });
  const ann = await makeTrader();
  const ids = await rest(market, ann, buy("yes", 1, 40), buy("no", 2, 41));
  const listener = await exchange.listen();
  await cancel(ann, market);
  const { users } = await listener.heard();
  t.deepEqual(
    users.filter(({ userId }) => userId === ann).map(({ event }) => event),
    [
      { orderId: ids[0], side: "yes", price: 40, quantity: 1 },
      { orderId: ids[1], side: "no", price: 41, quantity: 2 },
    ].map((about) => ({
      type: "order_cancelled",
      marketId: market,
      marketTitle: "Sun?",
      filledQuantity: 0,
      cancelReason: "user_cancelled",
      ...about,
    })),
  );
});

test.serial("an order past its expiry expires, and is not counted", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const { due, open } = await restUntilExpiry(exchange, market, ann);
  t.is(await cancel(ann), 1);
  t.is((await order(ann, due)).cancelReason, "expired");
  t.is((await order(ann, open)).cancelReason, "user_cancelled");
  t.deepEqual(await auditedOrders(ann), [open]);
  await clock.release();
});

async function auditedOrders(user_id: string): Promise<string[]> {
  const rows = await exchange.look(
    `select e.arguments -> 'order_ids' as ids
       from admin.audit_entries as e
       where e.action = 'cancel_orders' and e.arguments ->> 'user_id' = $1
       order by e.audit_key desc limit 1`,
    [user_id],
  );
  return rows[0].ids;
}

test("the audit row has the orders it cancelled, and not those that the user did", async (t) => {
  const [one, two] = await makeMarkets(2);
  const { market: live } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const [own, ...rested] = (await rest(
    one,
    ann,
    ...[buy("yes", 1, 40), buy("yes", 1, 41), buy("no", 2, 40)],
  )) as [string, ...string[]];
  const other = await rest(two, ann, buy("no", 3, 40));
  const scheduled = (await place(live, ann, buy("yes", 1, 40))).order.id;
  await rest(one, bob, buy("yes", 4, 40));
  await exchange.cancel(ann, own);
  await cancel(ann, one);
  t.deepEqual(await auditedOrders(ann), rested);
  await cancel(ann);
  t.deepEqual(await auditedOrders(ann), [...other, scheduled]);
  await cancel(ann);
  t.deepEqual(await auditedOrders(ann), []);
});

test("the audit row has the first 1,000 orders of more", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const ids: string[] = [];
  while (ids.length < 1001) {
    const size = Math.min(100, 1001 - ids.length);
    const batch = Array.from({ length: size }, (): [string, Request] => [ann, buy("yes", 1, 1)]);
    for (const { answer } of await exchange.placeBatch(market, batch)) ids.push(answer!.order.id);
  }
  t.is(await cancel(ann), 1001);
  t.deepEqual(await auditedOrders(ann), ids.slice(0, 1000));
});

test("what is read grows with the orders, also if each is in another market", async (t) => {
  const pages: number[] = [];
  for (const count of [20, 240]) {
    const ann = await makeTrader();
    for (const market of await makeMarkets(count)) await rest(market, ann, buy("yes", 1, 40));
    const read = () =>
      exchange.withRollback((client) =>
        pagesRead(client, `select admin.cancel_orders(user_id => '${ann}')`),
      );
    await read();
    pages.push(await read());
  }
  t.true(pages[1]! < 18 * pages[0]!, `${pages.join(" and ")} pages`);
});

test("it works for a paused market, and for a user who is frozen or excluded", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40));
  await operate("set_market_status", { market_id: market, status: "paused" });
  await operate("freeze_user", { user_id: ann, reason: "why", cancel_orders: false });
  t.is(await cancel(ann), 1);
});

test("NOT_FOUND: an unknown user or market", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await t.throwsAsync(cancel(nowhere), { code: "EX017", message: /no user/ });
  await t.throwsAsync(cancel(nowhere, market), { code: "EX017", message: /no user/ });
  await t.throwsAsync(cancel(ann, nowhere), { code: "EX017", message: /no market/ });
});
