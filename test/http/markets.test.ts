import { randomUUID } from "node:crypto";
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

for (const view of [...views, "/rules", "/resolution"]) {
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

// GET /markets/:id/resolution: what it rests on, and what became of it.

const start = Date.UTC(2027, 0, 10, 12);
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(start + hours * HOUR_MS).toISOString();

async function resolutionOf(marketId: string): Promise<any> {
  const { status, body } = await call("GET", `/api/v1/markets/${marketId}/resolution`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

test.serial("200: evidence, source and history of a market, from its resolution on", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze(new Date(start));
  try {
    const market_id = await makeMarket();
    const source_url = "https://office.example/";
    await operate("set_market_source", { market_id, rules: "As it says.", source_url });
    t.like((await call("GET", `/api/v1/markets/${market_id}/rules`)).body, {
      resolutionRules: "As it says.",
      sourceUrl: source_url,
    });
    const unresolved = await call("GET", `/api/v1/markets/${market_id}/resolution`);
    t.is(unresolved.status, 404);
    t.deepEqual(unresolved.body, { error: "The market is not resolved" });

    await operate("resolve_market", { market_id, outcome: "yes", evidence: "It says yes." });
    const first = {
      ...{ at: at(0), kind: "resolved", outcome: "yes", yesPayoutCents: 100 },
      ...{ reason: null, evidence: "It says yes." },
    };
    t.deepEqual(await resolutionOf(market_id), {
      ...{ outcome: "yes", yesPayoutCents: 100, noPayoutCents: 0, resolvedAt: at(0) },
      ...{ correctedAt: null, voidedAt: null, evidence: "It says yes.", sourceUrl: source_url },
      ...{ disputeUntil: at(72), history: [first] },
    });

    await clock.advance(HOUR_MS);
    const correction = { market_id, outcome: "custom", yes_payout_cents: 30, reason: "Half." };
    await operate("correct_resolution", correction);
    const second = {
      ...{ at: at(1), kind: "corrected", outcome: "custom", yesPayoutCents: 30 },
      ...{ reason: "Half.", evidence: null },
    };
    t.like(await resolutionOf(market_id), {
      ...{ outcome: "custom", resolvedAt: at(0), correctedAt: at(1), evidence: null },
      ...{ disputeUntil: at(73), history: [first, second] },
    });

    await clock.advance(HOUR_MS);
    await operate("correct_resolution", {
      ...{ market_id, outcome: "no", reason: "It says no.", evidence: "It says so now." },
    });
    await clock.advance(HOUR_MS);
    await operate("void_market", { market_id, reason: "Never asked." });
    const voided = await resolutionOf(market_id);
    t.like(voided, {
      ...{ outcome: "custom", yesPayoutCents: 50, resolvedAt: at(0), correctedAt: at(2) },
      ...{ voidedAt: at(3), disputeUntil: null },
    });
    t.deepEqual(voided.history.slice(0, 2), [first, second]);
    t.deepEqual(voided.history.slice(2), [
      {
        ...{ at: at(2), kind: "corrected", outcome: "no", yesPayoutCents: 0 },
        ...{ reason: "It says no.", evidence: "It says so now." },
      },
      {
        ...{ at: at(3), kind: "voided", outcome: "custom", yesPayoutCents: 50 },
        ...{ reason: "Never asked.", evidence: null },
      },
    ]);
  } finally {
    await clock.release();
  }
});

test.serial("200: a market that was voided without a resolution", async (t) => {
  const market_id = await makeMarket();
  await operate("void_market", { market_id, reason: "Never asked." });
  const { history, ...rest } = await resolutionOf(market_id);
  t.like(rest, { correctedAt: null, evidence: null, sourceUrl: null, disputeUntil: null });
  t.like(history, { 0: { at: rest.voidedAt, kind: "voided", reason: "Never asked." }, length: 1 });
});

// POST /markets/:id/disputes and GET /me/disputes.

/** A resolved market, and the key of a trader who held shares of it. */
async function settled() {
  const marketId = await makeMarket({ title: "Will it rain?" });
  const { key, userId } = await makeTrader();
  await call("POST", "/api/v1/positions/split", { key, body: { marketId, quantity: 1 } });
  await operate("resolve_market", { market_id: marketId, outcome: "no" });
  return { marketId, key, userId, path: `/api/v1/markets/${marketId}/disputes` };
}

test("201: a dispute, and then its answer, for its user only", async (t) => {
  const { marketId, key, path } = await settled();
  const text = "It rained.\nSee <b>the log</b>.";
  const { status, body, headers } = await call("POST", path, { key, body: { text } });
  t.is(status, 201);
  t.deepEqual(Object.keys(body), ["id", "createdAt"]);
  t.not(headers.get("x-ratelimit-limit"), null, "counted as a command");

  const list = async (query = "", given = key) =>
    (await call("GET", `/api/v1/me/disputes${query}`, { key: given })).body;
  const { resolvedAt } = (await call("GET", `/api/v1/markets/${marketId}/resolution`)).body;
  const dispute = {
    ...{ id: body.id, marketId, marketTitle: "Will it rain?", outcome: "no", yesPayoutCents: 0 },
    ...{ resolvedAt, text, createdAt: body.createdAt, answer: null, answeredAt: null },
  };
  t.deepEqual(await list(), { data: [dispute] });
  t.deepEqual(await list("", (await makeTrader()).key), { data: [] });

  await operate("answer_dispute", { dispute_id: body.id, answer: "Not at the station." });
  const { data } = await list(`?marketId=${marketId}`);
  t.like(data, { 0: { answer: "Not at the station." }, length: 1 });
  t.true(data[0].answeredAt >= body.createdAt);
  t.deepEqual(await list(`?marketId=${randomUUID()}`), { data: [] });
});

test("409 ALREADY_DISPUTED, 403 NO_SHARES_HELD, 400 NOT_OPEN_TO_DISPUTE, 404", async (t) => {
  const { marketId, key, path } = await settled();
  const body = { text: "It rained." };
  t.is((await call("POST", path, { key, body })).status, 201);
  const answers: [path: string, key: string, status: number, body: object][] = [
    [
      path,
      key,
      409,
      { error: "You have disputed this resolution already", code: "ALREADY_DISPUTED" },
    ],
    [
      ...([path, (await makeTrader()).key, 403] as const),
      { error: "Only users who held shares may dispute it", code: "NO_SHARES_HELD" },
    ],
    [
      ...([`/api/v1/markets/${await makeMarket()}/disputes`, key, 400] as const),
      { error: "The market has no resolution to dispute now", code: "NOT_OPEN_TO_DISPUTE" },
    ],
    [`/api/v1/markets/${randomUUID()}/disputes`, key, 404, { error: "Market not found" }],
    ["/api/v1/markets/1/disputes", key, 400, { error: "Invalid id" }],
  ];
  for (const [to, by, status, expected] of answers) {
    const answer = await call("POST", to, { key: by, body });
    t.deepEqual([answer.status, answer.body], [status, expected]);
  }
  await operate("correct_resolution", { market_id: marketId, outcome: "yes", reason: "it did" });
  t.is((await call("POST", path, { key, body })).status, 201);
});

test("400 INVALID_REQUEST: a text that is none or too long, counted in characters", async (t) => {
  const { key, path } = await settled();
  for (const text of [undefined, null, 5, "", " \n", "a\u0000b", "x".repeat(2001)]) {
    const { status, body } = await call("POST", path, { key, body: { text } });
    t.deepEqual([status, body.code, body.issues[0].path], [400, "INVALID_REQUEST", "text"]);
  }
  t.deepEqual((await call("GET", "/api/v1/me/disputes", { key })).body, { data: [] });
  const body = { text: "\u{1F327}".repeat(2000) };
  t.is((await call("POST", path, { key, body })).status, 201);
});
