import test from "ava";
import { convertSetsResponseSchema } from "../../src/api/positions.ts";
import { testService } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

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

test("401, 400 MARKET_NOT_FOUND, MARKET_NOT_OPEN and INSUFFICIENT_BALANCE", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader({ fundsCents: 99 });
  const resolved = await makeMarket();
  await operate("resolve_market", { market_id: resolved, outcome: "no" });
  for (const convert of [split, merge]) {
    t.is((await convert("jk_nothing", { marketId, quantity: 1 })).status, 401);
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
