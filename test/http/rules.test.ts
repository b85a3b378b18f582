import test from "ava";
import { exchangeSchema, rulesSchema } from "../../src/api/markets.ts";
import { version } from "../../src/version.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";

/** GET /markets/:id/rules and GET /exchange: what is in force. */

const service = testService(test);
const { call, operate, makeMarket, makeTrader } = service;

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
  const unknown = "01900000-0000-7000-8000-000000000000";
  t.is((await call("GET", `/api/v1/markets/${unknown}/rules`)).status, 404);
  t.is((await call("GET", "/api/v1/markets/1/rules")).status, 400);
});
