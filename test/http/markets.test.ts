import test from "ava";
import {
  exchangeSchema,
  listTradesResponseSchema,
  marketSchema,
  orderBookSchema,
  rulesSchema,
} from "../../src/api/markets.ts";
import { version } from "../../src/version.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";
const views = ["", "/orderbook", "/trades", "/chance"];

/** Bids 100 at 40 and 30 at 35, asks 80 at 60 and 50 at 70, after three trades at 60. */
async function makeTradedMarket() {
  const marketId = await makeMarket();
  const maker = await makeTrader();
  const taker = await makeTrader();
  const place = (key: string, side: string, price: number, quantity: number) =>
    call("POST", "/api/v1/orders", { key, body: { marketId, side, price, quantity } });
  await place(maker.key, "yes", 40, 100);
  await place(maker.key, "yes", 35, 30);
  await place(maker.key, "no", 40, 86);
  await place(maker.key, "no", 30, 50);
  for (const quantity of [1, 2, 3]) await place(taker.key, "yes", 60, quantity);
  return marketId;
}

test("200: a market without an order", async (t) => {
  const marketId = await makeMarket({ title: "Will the sun shine?" });
  const market = await call("GET", `/api/v1/markets/${marketId}`);
  t.is(market.status, 200);
  t.notThrows(() => marketSchema.parse(market.body));
  t.like(market.body, {
    id: marketId,
    title: "Will the sun shine?",
    category: "tests",
    status: "open",
    bestBid: null,
    bestAsk: null,
    lastTradePrice: null,
    yesVolume: 0,
    noVolume: 0,
    resolvedOutcome: null,
  });
  const book = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
  t.is(book.status, 200);
  t.deepEqual(book.body, { bids: [], asks: [] });
  const trades = await call("GET", `/api/v1/markets/${marketId}/trades`);
  t.is(trades.status, 200);
  t.deepEqual(trades.body, {
    data: [],
    meta: { total: 0, page: 1, limit: 20, hasMore: false },
  });
});

test("200: what its prices say, from no trade to the resolution", async (t) => {
  const marketId = await makeMarket();
  const [one, other] = [await makeTrader(), await makeTrader()];
  const place = (key: string, side: string, price: number, more = {}) =>
    call("POST", "/api/v1/orders", { key, body: { marketId, side, price, quantity: 2, ...more } });
  const says = async (chance: number | null, chanceKind: string) => {
    const { body, status } = await call("GET", `/api/v1/markets/${marketId}/chance`);
    t.is(status, 200);
    t.deepEqual(body, { chance, chanceKind });
  };
  await says(null, "none");
  await place(one.key, "yes", 40);
  await says(null, "none");
  // A NO buy at 49 is an offer of YES at 51: eleven cents above.
  const wide = await place(one.key, "no", 49);
  await says(null, "none");
  await place(other.key, "yes", 51);
  await says(51, "last");
  await place(one.key, "no", 51);
  await says(44.5, "mid");
  await call("POST", "/api/v1/orders/cancel-all", { key: one.key, body: {} });
  await says(51, "last");
  t.is(wide.status, 201);
  await place(one.key, "no", 70);
  await says(30, "last");
  await operate("resolve_market", { market_id: marketId, outcome: "yes" });
  await says(null, "none");
});

test("200: a market, its book and its trades, without a key", async (t) => {
  const marketId = await makeTradedMarket();
  const market = await call("GET", `/api/v1/markets/${marketId.toUpperCase()}`);
  t.notThrows(() => marketSchema.parse(market.body));
  t.like(market.body, {
    bestBid: 40,
    bestAsk: 60,
    lastTradePrice: 60,
    yesVolume: 360,
    noVolume: 240,
  });
  const book = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
  t.notThrows(() => orderBookSchema.parse(book.body));
  t.deepEqual(book.body, {
    bids: [
      { price: 40, quantity: 100 },
      { price: 35, quantity: 30 },
    ],
    asks: [
      { price: 60, quantity: 80 },
      { price: 70, quantity: 50 },
    ],
  });
  const trades = await call("GET", `/api/v1/markets/${marketId}/trades`);
  t.notThrows(() => listTradesResponseSchema.parse(trades.body));
  t.deepEqual(
    trades.body.data.map((trade: { quantity: number }) => trade.quantity),
    [3, 2, 1],
  );
});

test("200: pages of trades", async (t) => {
  const marketId = await makeTradedMarket();
  const page = async (query: string) => {
    const answer = await call("GET", `/api/v1/markets/${marketId}/trades?${query}`);
    t.is(answer.status, 200);
    t.notThrows(() => listTradesResponseSchema.parse(answer.body));
    const quantities = answer.body.data.map((trade: { quantity: number }) => trade.quantity);
    return { quantities, meta: answer.body.meta };
  };
  t.deepEqual(await page("limit=2"), {
    quantities: [3, 2],
    meta: { total: 3, page: 1, limit: 2, hasMore: true },
  });
  t.deepEqual(await page("limit=2&page=2"), {
    quantities: [1],
    meta: { total: 3, page: 2, limit: 2, hasMore: false },
  });
  t.deepEqual(await page("limit=3"), {
    quantities: [3, 2, 1],
    meta: { total: 3, page: 1, limit: 3, hasMore: false },
  });
  t.deepEqual(await page("page=2147483647&limit=50"), {
    quantities: [],
    meta: { total: 3, page: 2_147_483_647, limit: 50, hasMore: false },
  });
});

test("how long an answer may be cached, and the version it shows", async (t) => {
  const marketId = await makeMarket();
  const read = async (view: string) => {
    const { headers } = await call("GET", `/api/v1/markets/${marketId}${view}`);
    return [headers.get("cache-control"), headers.get("x-market-version")];
  };
  const short = "public, s-maxage=5, stale-while-revalidate=10";
  const long = "public, s-maxage=10, stale-while-revalidate=30";
  const [, version] = await read("");
  t.regex(version ?? "", /^\d+$/);
  t.deepEqual(await Promise.all(views.map(read)), [
    [long, version],
    [short, version],
    [short, version],
    [short, version],
  ]);
  const { key } = await makeTrader();
  const body = { marketId, side: "yes", price: 40, quantity: 1 };
  await call("POST", "/api/v1/orders", { key, body });
  const next = String(Number(version) + 1);
  t.deepEqual(await Promise.all(views.map(read)), [
    [long, next],
    [short, next],
    [short, next],
    [short, next],
  ]);
});

test("HEAD gives the headers alone", async (t) => {
  const answer = await call("HEAD", `/api/v1/markets/${await makeMarket()}/orderbook`);
  t.is(answer.status, 200);
  t.truthy(answer.headers.get("x-market-version"));
});

for (const view of views) {
  test(`404: no such market: /markets/:id${view}`, async (t) => {
    const answer = await call("GET", `/api/v1/markets/${noSuchId}${view}`);
    t.is(answer.status, 404);
    t.deepEqual(answer.body, { error: "Market not found" });
    t.is(answer.headers.get("cache-control"), "no-store");
    t.is(answer.headers.get("x-market-version"), null);
  });

  test(`400: an id that is no UUID: /markets/:id${view}`, async (t) => {
    for (const id of ["1", "%00", "%E0%A4%A", `${noSuchId}0`]) {
      const answer = await call("GET", `/api/v1/markets/${id}${view}`);
      t.is(answer.status, 400);
      t.deepEqual(answer.body, { error: "Invalid id" });
    }
  });
}

for (const [query, path, message] of [
  ["page=0", "page", "must be at least 1"],
  ["page=-1", "page", "must be an integer"],
  ["page=1.5", "page", "must be an integer"],
  ["page=", "page", "must be an integer"],
  ["page=one", "page", "must be an integer"],
  ["page=2147483648", "page", "must be at most 2147483647"],
  ["limit=0", "limit", "must be at least 1"],
  ["limit=51", "limit", "must be at most 50"],
  ["limit=10&limit=20", "limit", "must be an integer"],
] as const) {
  test(`400 INVALID_REQUEST: trades?${query}`, async (t) => {
    const answer = await call("GET", `/api/v1/markets/${noSuchId}/trades?${query}`);
    t.is(answer.status, 400);
    t.deepEqual(answer.body, {
      error: `${path}: ${message}`,
      code: "INVALID_REQUEST",
      issues: [{ path, message }],
    });
  });
}

// GET /markets/:id/rules and GET /exchange: what is in force.

const DAY_MS = 86_400_000;

async function rulesOf(marketId: string): Promise<any> {
  const { status, body, headers } = await call("GET", `/api/v1/markets/${marketId}/rules`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  if (headers.get("X-Market-Version") !== String(body.version)) throw new Error("two versions");
  return rulesSchema.parse(body);
}

test.serial("200: the rules of a market that is not live", async (t) => {
  const marketId = await makeMarket();
  const before = await rulesOf(marketId);
  const { version: first, ...rules } = before;
  t.deepEqual(rules, {
    feeRateBps: 700,
    live: false,
    liveDelayMs: null,
    liveFrom: null,
    liveUntil: null,
    minPrice: 1,
    maxPrice: 99,
    maxQuantity: 10_000,
    resolutionRules: null,
    sourceUrl: null,
  });
  const { key } = await makeTrader();
  const order = { marketId, side: "yes", price: 1, quantity: 10_000 };
  t.is((await call("POST", "/api/v1/orders", { key, body: order })).status, 201);
  for (const beyond of [{ price: 0 }, { price: 100 }, { quantity: 10_001 }]) {
    const body = { ...order, ...beyond };
    t.is((await call("POST", "/api/v1/orders", { key, body })).status, 400);
  }
  t.true((await rulesOf(marketId)).version > first);
});

test.serial("200: the fee of a market is that of its latest schedule in force", async (t) => {
  const marketId = await makeMarket();
  await operate("set_fee_schedule", { market_id: marketId, taker_rate_bps: 300 });
  t.is((await rulesOf(marketId)).feeRateBps, 300);
});

test.serial("200: live says whether an order that is placed now waits", async (t) => {
  const clock = testClock(service.database.pool);
  const start = Date.UTC(2027, 0, 10, 12);
  const [starts_at, ends_at] = [start + DAY_MS, start + 2 * DAY_MS].map((at) => new Date(at));
  await clock.freeze(new Date(start));
  try {
    const about = { title: "A match", category: "tests" };
    const timed = { ...about, starts_at, ends_at, live: true, live_delay_ms: 2500 };
    const event_id = await operate("create_event", timed);
    const marketId = await operate("create_market", { ...about, event_id });
    const { key } = await makeTrader();
    const placed = async (): Promise<string> => {
      const body = { marketId, side: "yes", price: 5, quantity: 1 };
      return (await call("POST", "/api/v1/orders", { key, body })).body.order.status;
    };
    const window = {
      liveDelayMs: 2500,
      liveFrom: "2027-01-11T12:00:00.000Z",
      liveUntil: "2027-01-12T12:00:00.000Z",
    };
    for (const [at, live, status] of [
      [start + DAY_MS - 1, false, "open"],
      [start + DAY_MS, true, "scheduled"],
      [start + 2 * DAY_MS - 1, true, "scheduled"],
      [start + 2 * DAY_MS, false, "open"],
    ] as const) {
      await clock.freeze(new Date(at));
      t.like(await rulesOf(marketId), { ...window, live });
      t.is(await placed(), status);
    }
  } finally {
    await clock.release();
  }
});

test.serial("200: the exchange trades or is paused, and has a time", async (t) => {
  const clock = testClock(service.database.pool);
  const now = async () => exchangeSchema.parse((await call("GET", "/api/v1/exchange")).body);
  await clock.freeze(new Date("2027-02-03T04:05:06.789Z"));
  try {
    const time = "2027-02-03T04:05:06.789Z";
    t.deepEqual(await now(), { status: "trading", reason: null, time, version });
    await operate("set_trading_pause", { paused: true, reason: "maintenance" });
    t.deepEqual(await now(), { status: "paused", reason: "maintenance", time, version });
    await operate("set_trading_pause", { paused: false, reason: "done" });
    t.deepEqual(await now(), { status: "trading", reason: null, time, version });
  } finally {
    await clock.release();
  }
});

test("404: the rules of an unknown market; 400: of no id", async (t) => {
  t.is((await call("GET", `/api/v1/markets/${noSuchId}/rules`)).status, 404);
  t.is((await call("GET", "/api/v1/markets/1/rules")).status, 400);
});
