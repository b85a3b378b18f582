import test from "ava";
import { listAccountOrdersResponseSchema, portfolioSchema } from "../../src/api/portfolio.ts";
import { convertSetsResponseSchema } from "../../src/api/positions.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeTrader, operate } = service;

const makeMarket = (options: Record<string, unknown> = {}): Promise<string> =>
  operate("create_market", { title: "Will it rain?", category: "tests", ...options });

async function place(trader: Trader, order: Record<string, unknown>): Promise<string> {
  const answer = await call("POST", "/api/v1/orders", { key: trader.key, body: order });
  if (answer.status !== 201) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
  return answer.body.order.id;
}

/** The trader buys so many shares at the price from a new trader. */
async function give(
  trader: Trader,
  marketId: string,
  side: "yes" | "no",
  price: number,
  quantity: number,
) {
  const other = await makeTrader();
  const otherSide = side === "yes" ? "no" : "yes";
  await place(other, { marketId, side: otherSide, price: 100 - price, quantity });
  return await place(trader, { marketId, side, price, quantity });
}

async function portfolioOf({ key }: Trader) {
  const answer = await call("GET", "/api/v1/me/portfolio", { key });
  if (answer.status !== 200) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
  portfolioSchema.parse(answer.body);
  return answer.body;
}

test("200: a portfolio without anything", async (t) => {
  const trader = await makeTrader({ fundsCents: 0 });
  const answer = await call("GET", "/api/v1/me/portfolio", trader);
  t.is(answer.status, 200);
  t.is(answer.headers.get("cache-control"), "no-store");
  t.deepEqual(answer.body, { balance: 0, positions: [], openOrders: [] });
});

test("200: positions with shares, by the close time of their market", async (t) => {
  const trader = await makeTrader();
  const never = await makeMarket({ title: "Never" });
  const late = await makeMarket({ title: "Late", close_time: "2091-01-01T00:00:00Z" });
  const early = await makeMarket({ title: "Early", close_time: "2090-01-01T00:00:00Z" });
  const sold = await makeMarket({ title: "Sold" });
  for (const market of [never, late, early, sold]) await give(trader, market, "yes", 40, 10);
  await give(trader, early, "no", 30, 5);
  await give(trader, early, "yes", 45, 5);

  const buyer = await makeTrader();
  const sale = { side: "yes", price: 60, quantity: 10 };
  await place(buyer, { marketId: sold, ...sale });
  await place(trader, { marketId: sold, ...sale, orderType: "sell" });
  await operate("set_market_status", { market_id: late, status: "paused" });

  const { balance, positions } = await portfolioOf(trader);
  t.deepEqual(
    positions.map(({ marketTitle, side }: any) => `${marketTitle} ${side}`),
    ["Early yes", "Early no", "Late yes", "Never yes"],
  );
  t.deepEqual(positions[0], {
    id: positions[0].id,
    marketId: early,
    marketTitle: "Early",
    marketStatus: "open",
    lastTradePrice: 45,
    side: "yes",
    // (10 x 40 + 5 x 45) / 15 = 41.67
    quantity: 15,
    avgPrice: 42,
    realisedPnl: 0,
  });
  t.like(positions[1], { side: "no", quantity: 5, avgPrice: 30 });
  t.like(positions[2], { marketStatus: "paused", lastTradePrice: 40 });
  t.is(balance, (await call("GET", "/api/v1/me", trader)).body.balance);
});

test("200: what was realised by selling a part", async (t) => {
  const trader = await makeTrader();
  const marketId = await makeMarket();
  await give(trader, marketId, "no", 50, 10);
  const buyer = await makeTrader();
  await place(buyer, { marketId, side: "no", price: 60, quantity: 4 });
  await place(trader, { marketId, side: "no", price: 60, quantity: 4, orderType: "sell" });
  const { positions } = await portfolioOf(trader);
  // Bought for 500 and 18 of fee; 4 sold for 240 less 7 of fee, 200 of cost and 7 of buy fee.
  t.like(positions[0], { quantity: 6, avgPrice: 50, realisedPnl: 26 });
});

test("200: open orders in the portfolio, newest first", async (t) => {
  const trader = await makeTrader();
  const marketId = await makeMarket({ title: "Will it snow?" });
  const resting = await place(trader, { marketId, side: "no", price: 20, quantity: 5 });
  const partial = await place(trader, { marketId, side: "yes", price: 40, quantity: 9 });
  const gone = await place(trader, { marketId, side: "yes", price: 10, quantity: 1 });
  await call("DELETE", `/api/v1/orders/${gone}`, trader);
  const other = await makeTrader();
  await place(other, { marketId, side: "no", price: 60, quantity: 4 });
  await place(other, { marketId, side: "no", price: 5, quantity: 4 });

  const { openOrders } = await portfolioOf(trader);
  t.deepEqual(openOrders, [
    {
      id: partial,
      marketId,
      marketTitle: "Will it snow?",
      side: "yes",
      price: 40,
      quantity: 9,
      filledQuantity: 4,
      status: "partially_filled",
      orderType: "buy",
      createdAt: openOrders[0].createdAt,
    },
    {
      id: resting,
      marketId,
      marketTitle: "Will it snow?",
      side: "no",
      price: 20,
      quantity: 5,
      filledQuantity: 0,
      status: "open",
      orderType: "buy",
      createdAt: openOrders[1].createdAt,
    },
  ]);
});

test("200: at most 200 open orders, the newest", async (t) => {
  const trader = await makeTrader();
  const marketId = await makeMarket();
  const ids: string[] = [];
  for (const count of [50, 50, 50, 50, 1]) {
    const orders = Array(count).fill({ marketId, side: "yes", price: 1, quantity: 1 });
    const { body } = await call("POST", "/api/v1/orders/batch", {
      key: trader.key,
      body: { orders },
    });
    for (const { body: placed } of body.results) ids.unshift(placed.order.id);
  }
  const { openOrders } = await portfolioOf(trader);
  t.deepEqual(
    openOrders.map(({ id }: any) => id),
    ids.slice(0, 200),
  );
  const { body } = await call("GET", "/api/v1/me/orders?limit=50&page=5", trader);
  t.deepEqual(body.meta, { total: 201, page: 5, limit: 50, hasMore: false });
  t.deepEqual(
    body.data.map(({ id }: any) => id),
    ids.slice(200),
  );
});

test("200: the caller's orders by status and page", async (t) => {
  const trader = await makeTrader();
  const marketId = await makeMarket({ title: "Will it snow?" });
  const filled = await give(trader, marketId, "yes", 40, 2);
  const expiresAt = "2090-01-01T00:00:00.000Z";
  const resting = await place(trader, { marketId, side: "no", price: 20, quantity: 5, expiresAt });
  const gone = await place(trader, { marketId, side: "yes", price: 10, quantity: 1 });
  await call("DELETE", `/api/v1/orders/${gone}`, trader);
  const partial = await place(trader, { marketId, side: "yes", price: 35, quantity: 9 });
  await place(await makeTrader(), { marketId, side: "no", price: 65, quantity: 4 });

  const list = async (query: string) => {
    const answer = await call("GET", `/api/v1/me/orders${query}`, trader);
    t.is(answer.status, 200);
    t.is(answer.headers.get("cache-control"), "no-store");
    t.notThrows(() => listAccountOrdersResponseSchema.parse(answer.body));
    return { ids: answer.body.data.map(({ id }: any) => id), ...answer.body };
  };
  const open = await list("");
  t.deepEqual(open.ids, [partial, resting]);
  t.deepEqual(open.meta, { total: 2, page: 1, limit: 20, hasMore: false });
  t.deepEqual(open.data[1], {
    id: resting,
    userId: trader.userId,
    marketId,
    marketTitle: "Will it snow?",
    side: "no",
    price: 20,
    quantity: 5,
    filledQuantity: 0,
    status: "open",
    orderType: "buy",
    createdAt: open.data[1].createdAt,
    expiresAt,
  });
  t.deepEqual((await list("?status=open&limit=1&page=2")).ids, [resting]);
  t.deepEqual((await list("?status=filled")).ids, [filled]);
  t.deepEqual((await list("?status=all")).ids, [partial, gone, resting, filled]);
  const second = await list("?status=all&limit=3&page=2");
  t.deepEqual(second.ids, [filled]);
  t.deepEqual(second.meta, { total: 4, page: 2, limit: 3, hasMore: false });
  const beyond = await list("?status=filled&limit=50&page=2147483647");
  t.deepEqual(beyond.ids, []);
  t.is(beyond.meta.total, 1);
});

test.serial("an order past its expiry is not listed as open, but among all", async (t) => {
  const clock = testClock(service.database.pool);
  const trader = await makeTrader();
  const marketId = await makeMarket();
  await clock.freeze("2080-01-01T00:00:00Z");
  const expiresAt = "2080-01-01T00:00:05Z";
  const id = await place(trader, { marketId, side: "yes", price: 20, quantity: 5, expiresAt });
  const open = async () => ({
    portfolio: (await portfolioOf(trader)).openOrders.length,
    orders: (await call("GET", "/api/v1/me/orders", trader)).body.meta.total,
  });
  await clock.advance(4999);
  t.deepEqual(await open(), { portfolio: 1, orders: 1 });
  await clock.advance(1);
  t.deepEqual(await open(), { portfolio: 0, orders: 0 });
  const all = await call("GET", "/api/v1/me/orders?status=all", trader);
  await clock.release();
  t.deepEqual(
    all.body.data.map((order: any) => order.id),
    [id],
  );
});

for (const [query, path] of [
  ["status=cancelled", "status"],
  ["status=scheduled", "status"],
  ["status=", "status"],
  ["page=0", "page"],
  ["limit=51", "limit"],
] as const) {
  test(`400 INVALID_REQUEST: GET /me/orders?${query}`, async (t) => {
    const answer = await call("GET", `/api/v1/me/orders?${query}`, await makeTrader());
    t.is(answer.status, 400);
    t.is(answer.body.code, "INVALID_REQUEST");
    t.is(answer.body.issues[0].path, path);
  });
}

// POST /positions/split and /positions/merge.

const noSuchId = "01900000-0000-7000-8000-000000000000";

const split = (key: string, body: unknown) =>
  call("POST", "/api/v1/positions/split", { key, body });
const merge = (key: string, body: unknown) =>
  call("POST", "/api/v1/positions/merge", { key, body });

test("200: sets are split and merged; the portfolio shows the same positions", async (t) => {
  const marketId = await makeMarket({ title: "Fog?" });
  const { key } = await makeTrader({ fundsCents: 1000 });
  const made = await split(key, { marketId: marketId.toUpperCase(), quantity: 8 });
  t.is(made.status, 200);
  t.is(made.headers.get("cache-control"), "no-store");
  t.notThrows(() => convertSetsResponseSchema.parse(made.body));
  t.like(made.body, { marketId, quantity: 8, balance: { total: 200, available: 200 } });
  const merged = await merge(key, { marketId, quantity: 3 });
  t.is(merged.status, 200);
  t.notThrows(() => convertSetsResponseSchema.parse(merged.body));
  t.like(merged.body, { marketId, quantity: 3, balance: { total: 500, available: 500 } });
  const { body: portfolio } = await call("GET", "/api/v1/me/portfolio", { key });
  t.is(portfolio.balance, 500);
  t.deepEqual(merged.body.positions, portfolio.positions);
});

test("400 INVALID_REQUEST: every field is checked", async (t) => {
  const { key } = await makeTrader();
  const marketId = await makeMarket();
  for (const convert of [split, merge]) {
    for (const [body, error] of [
      [{ quantity: 1 }, "marketId: required"],
      [{ marketId: "x", quantity: 1 }, "marketId: must be a UUID"],
      [{ marketId }, "quantity: required"],
      [{ marketId, quantity: 0 }, "quantity: must be at least 1"],
      [{ marketId, quantity: 10_001 }, "quantity: must be at most 10000"],
      [{ marketId, quantity: 1.5 }, "quantity: must be an integer"],
    ] as const) {
      const answer = await convert(key, body);
      t.is(answer.status, 400);
      t.like(answer.body, { code: "INVALID_REQUEST", error });
    }
  }
});

test("400 MARKET_NOT_FOUND, MARKET_NOT_OPEN and INSUFFICIENT_BALANCE", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader({ fundsCents: 99 });
  const resolved = await makeMarket();
  await operate("resolve_market", { market_id: resolved, outcome: "no" });
  for (const convert of [split, merge]) {
    for (const [id, body] of [
      [noSuchId, { error: "Market not found" }],
      [resolved, { error: "Market is not open for trading" }],
      [marketId, { error: "Not enough balance or position", code: "INSUFFICIENT_BALANCE" }],
    ] as const) {
      const answer = await convert(key, { marketId: id, quantity: 1 });
      t.is(answer.status, 400);
      t.deepEqual(answer.body, body);
    }
  }
});

test("404: no event has this id", async (t) => {
  const { key } = await makeTrader();
  for (const [path, body] of [
    ["convert", { marketIds: [noSuchId], quantity: 1 }],
    ["convert/preview", { marketIds: [noSuchId], quantity: 1 }],
    ["redeem", { quantity: 1 }],
  ] as const) {
    const answer = await call("POST", `/api/v1/events/${noSuchId}/${path}`, { key, body });
    t.is(answer.status, 404);
    t.is(answer.headers.get("x-error-code"), "NOT_FOUND");
    t.deepEqual(answer.body, { error: "Event not found" }, path);
  }
});

test("428 LIMITS_SETUP_REQUIRED and 403 SELF_EXCLUDED bar a split and not a merge", async (t) => {
  const marketId = await makeMarket();
  const { key, userId } = await makeTrader();
  await split(key, { marketId, quantity: 2 });
  await operate("self_exclude", { user_id: userId });
  const refused = await split(key, { marketId, quantity: 1 });
  t.is(refused.status, 403);
  t.is(refused.body.code, "SELF_EXCLUDED");
  t.is((await merge(key, { marketId, quantity: 1 })).status, 200);

  const unreviewed = await makeTrader({ reviewed: false });
  const early = await split(unreviewed.key, { marketId, quantity: 1 });
  t.is(early.status, 428);
  t.is(early.body.code, "LIMITS_SETUP_REQUIRED");
});

test("403 ACCOUNT_FROZEN bars a split and not a merge", async (t) => {
  const marketId = await makeMarket();
  const { key, userId } = await makeTrader();
  await split(key, { marketId, quantity: 2 });
  await operate("freeze_user", { user_id: userId, reason: "fraud check" });
  const refused = await split(key, { marketId, quantity: 1 });
  t.deepEqual(
    [refused.status, refused.body],
    [403, { error: "Account is frozen", code: "ACCOUNT_FROZEN" }],
  );
  t.is((await merge(key, { marketId, quantity: 2 })).status, 200);
});
