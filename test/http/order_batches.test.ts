import { randomUUID } from "node:crypto";
import test from "ava";
import { batchRejectedSchema, placeBatchResponseSchema } from "../../src/api/order_batches.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, Trader } from "../helpers/http/test_service.ts";

/** POST /orders/batch. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const batch = (trader: Trader, orders: unknown, more: object = {}): Promise<Answer> =>
  call("POST", "/api/v1/orders/batch", { key: trader.key, body: { orders, ...more } });
const place = (trader: Trader, body: unknown): Promise<Answer> =>
  call("POST", "/api/v1/orders", { key: trader.key, body });
const balanceOf = async ({ key }: Trader): Promise<number> =>
  (await call("GET", "/api/v1/me", { key })).body.balance;
const ordersOf = async ({ key }: Trader): Promise<any[]> =>
  (await call("GET", "/api/v1/orders?status=all", { key })).body.data;

const buy = (marketId: string, price: number, more: object = {}) => ({
  ...{ marketId, side: "yes", price, quantity: 10 },
  ...more,
});

/** A market where YES is sold at 60, 100 shares. */
async function makeQuotedMarket(): Promise<string> {
  const marketId = await makeMarket();
  const { status } = await place(await makeTrader(), {
    ...{ marketId, side: "no", price: 40, quantity: 100 },
  });
  if (status !== 201) throw new Error(`the maker's order got ${status}`);
  return marketId;
}

async function makeLiveMarket(): Promise<string> {
  const about = { title: "A match", category: "tests" };
  const event_id = await operate("create_event", { ...about, live: true });
  return await operate("create_market", { ...about, event_id });
}

test("200: mixed results over two markets, each as POST /orders answers it", async (t) => {
  const [first, second] = [await makeQuotedMarket(), await makeQuotedMarket()];
  const [trader, twin] = [await makeTrader(), await makeTrader()];
  const orders = [
    buy(first, 60),
    buy(second, 50),
    buy(second, 60, { postOnly: true }),
    { ...buy(first, 50), side: "maybe" },
    buy(randomUUID(), 50),
    buy(second, 99, { orderType: "sell", quantity: 10_000 }),
    [],
    buy(first, 40),
  ];
  const answer = await batch(trader, orders);
  t.is(answer.status, 200);
  t.notThrows(() => placeBatchResponseSchema.parse(answer.body));
  t.deepEqual(
    answer.body.results.map(({ status }: Answer) => status),
    [201, 201, 400, 400, 400, 400, 400, 201],
  );
  t.is(answer.body.results[2].body.code, "POST_ONLY_WOULD_CROSS");
  t.like(answer.body.results[0].body, { order: { status: "filled" }, cancelledOrders: [] });
  t.is(answer.body.results[0].body.fills.length, 1);
  const total = 1_000_000 - 600 - answer.body.results[0].body.feeCents;
  t.deepEqual(answer.body.balance, { total, available: total });
  t.is(await balanceOf(trader), total);
  // What is rejected is rejected in the same words when it comes by itself.
  for (const index of [2, 3, 4, 5, 6]) {
    const { status, body } = await place(twin, orders[index]);
    t.deepEqual(answer.body.results[index], { status, body }, `order ${index}`);
  }
  t.is((await ordersOf(trader)).length, 3);
});

test("200: orders of one market are carried out in their order", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const orders = [60, 59, 58, 57].map((price) => buy(marketId, price));
  const { body } = await batch(trader, [
    ...orders,
    { marketId, side: "no", price: 45, quantity: 1 },
  ]);
  t.is(body.results[4].body.code, "SELF_TRADE_BLOCKED");
  const ids = body.results.slice(0, 4).map((result: any) => result.body.order.id);
  t.deepEqual(
    (await ordersOf(trader)).map(({ id }) => id),
    ids.toReversed(),
  );
});

test("200: a key within a batch and in a later one stands for one order", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const order = buy(marketId, 50, { idempotencyKey: randomUUID() });
  const { body } = await batch(trader, [order, { ...order, price: 40 }, buy(marketId, 30)]);
  t.deepEqual(
    body.results.map(({ status }: Answer) => status),
    [201, 200, 201],
  );
  t.deepEqual(body.results[1].body.order, body.results[0].body.order);
  const again = await batch(trader, [order], { atomic: true });
  t.is(again.body.results[0].status, 200);
  t.deepEqual(again.body.results[0].body.order, body.results[0].body.order);
  t.is((await ordersOf(trader)).length, 2);
});

test("200: an atomic batch over two markets is carried out as a whole", async (t) => {
  const markets = [await makeQuotedMarket(), await makeQuotedMarket()];
  const trader = await makeTrader();
  const orders = markets.map((marketId) => buy(marketId, 60));
  const answer = await batch(trader, orders, { atomic: true });
  t.is(answer.status, 200);
  t.notThrows(() => placeBatchResponseSchema.parse(answer.body));
  t.deepEqual(
    answer.body.results.map((result: any) => [result.status, result.body.order.status]),
    [
      [201, "filled"],
      [201, "filled"],
    ],
  );
  t.is(answer.body.balance.total, await balanceOf(trader));
  t.true(answer.body.balance.total < 1_000_000 - 1200);
});

test("409 BATCH_REJECTED: one order of an atomic batch is rejected, and none is placed", async (t) => {
  const markets = [await makeQuotedMarket(), await makeQuotedMarket()];
  const trader = await makeTrader();
  const orders = [
    buy(markets[0]!, 60, { idempotencyKey: randomUUID() }),
    buy(markets[1]!, 60, { postOnly: true }),
    buy(randomUUID(), 60),
  ];
  const answer = await batch(trader, orders, { atomic: true });
  t.is(answer.status, 409);
  t.notThrows(() => batchRejectedSchema.parse(answer.body));
  t.is(answer.body.index, 1);
  const alone = await place(trader, orders[1]);
  t.deepEqual(answer.body.result, { status: alone.status, body: alone.body });
  t.deepEqual(await ordersOf(trader), []);
  t.is(await balanceOf(trader), 1_000_000);
  const book = await call("GET", `/api/v1/markets/${markets[0]}/orderbook`);
  t.deepEqual(book.body.asks, [{ price: 60, quantity: 100 }]);
  // The key of an order that was not placed is as good as new.
  t.is((await place(trader, orders[0])).status, 201);
});

test("400 INVALID_REQUEST: a malformed order makes an atomic batch malformed", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const orders = [buy(marketId, 50), { ...buy(marketId, 50), quantity: 0 }];
  const answer = await batch(trader, orders, { atomic: true });
  t.is(answer.status, 400);
  t.deepEqual(answer.body, {
    error: "orders.1.quantity: must be at least 1",
    code: "INVALID_REQUEST",
    issues: [{ path: "orders.1.quantity", message: "must be at least 1" }],
  });
  t.deepEqual(await ordersOf(trader), []);
});

test("400 INVALID_REQUEST: an atomic batch with an order on a live market", async (t) => {
  const [marketId, live] = [await makeMarket(), await makeLiveMarket()];
  const trader = await makeTrader();
  const orders = [buy(marketId, 50), buy(live, 50)];
  const answer = await batch(trader, orders, { atomic: true });
  t.is(answer.status, 400);
  t.is(answer.body.code, "INVALID_REQUEST");
  t.is(answer.body.issues[0].path, "atomic");
  t.deepEqual(await ordersOf(trader), []);
  const each = await batch(trader, orders);
  t.deepEqual(
    each.body.results.map((result: any) => [result.status, result.body.order.status]),
    [
      [201, "open"],
      [201, "scheduled"],
    ],
  );
});

test("200: what an atomic batch placed before a market was live is a replay afterwards", async (t) => {
  const about = { title: "A match", category: "tests" };
  const event_id = await operate("create_event", { ...about, live: false });
  const marketId = await makeMarket();
  const live = await operate("create_market", { ...about, event_id });
  const trader = await makeTrader();
  const withKey = (id: string) => ({ ...buy(id, 50), idempotencyKey: crypto.randomUUID() });
  const orders = [withKey(marketId), withKey(live)];
  const first = await batch(trader, orders, { atomic: true });
  t.deepEqual([first.status, first.body.results[1].status], [200, 201]);
  await operate("set_event_live", { event_id, live: true });
  const again = await batch(trader, orders, { atomic: true });
  t.deepEqual(
    [again.status, ...again.body.results.map((result: any) => result.status)],
    [200, 200, 200],
  );
  t.is((await ordersOf(trader)).length, 2);
});

for (const [name, body, path, message] of [
  ["no orders", {}, "orders", "required"],
  ["no order", { orders: [] }, "orders", "must have at least 1 order"],
  ["51 orders", { orders: Array(51).fill({}) }, "orders", "must have at most 50 orders"],
  ["orders that are no list", { orders: {} }, "orders", "must be an array"],
  ["a strange atomic", { orders: [{}], atomic: 1 }, "atomic", "must be a boolean"],
  ["no object", [], "", "The body must be a JSON object"],
] as const) {
  test(`400 INVALID_REQUEST: ${name}`, async (t) => {
    const { key } = await makeTrader();
    const answer = await call("POST", "/api/v1/orders/batch", { key, body });
    t.is(answer.status, 400);
    t.deepEqual(answer.body.issues[0], { path, message });
  });
}

test("400 and 413: a body that is no JSON or is too large", async (t) => {
  const { key } = await makeTrader();
  const send = (body: string) => call("POST", "/api/v1/orders/batch", { key, body });
  t.is((await send("{")).body.error, "The body must be a JSON object, in UTF-8");
  t.is((await send(`"${"x".repeat(70_000)}"`)).status, 413);
  // Those of texts are none: commas and brackets in them, behind quotes that end no text.
  const notes = (count: number) => `{"note":"\\",[{[{","more":[${"0,".repeat(count)}0]}`;
  const most = await send(notes(3996));
  t.is(most.body.issues[0].path, "orders", most.body.error);
  t.is((await send(notes(3997))).body.error, "The body must have at most 4,000 values");
});

test("200: 50 orders over 50 markets", async (t) => {
  const markets = await Promise.all(Array.from({ length: 50 }, () => makeMarket()));
  const trader = await makeTrader();
  for (const more of [{}, { atomic: true }]) {
    const orders = markets.map((marketId) => buy(marketId, 20));
    const { body } = await batch(trader, orders, more);
    t.deepEqual(
      body.results.map((result: any) => [result.status, result.body.order.marketId]),
      markets.map((marketId) => [201, marketId]),
    );
  }
});
