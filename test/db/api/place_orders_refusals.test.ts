import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, codesOf, ioc, postOnly, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** What is refused, and which refusal it is when several apply. */

const exchange = testExchange(test);
const {
  clock,
  giveShares,
  makeMarket,
  makeMarketWith,
  makeTrader,
  makeTraders,
  operate,
  placeBatch,
} = exchange;
const { place, refusal, rest } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";
const past = { expiresAt: "2020-01-01T00:00:00Z" };

const pause = (paused: boolean) => operate("set_trading_pause", { paused });
const exclude = (trader: string) => operate("self_exclude", { user_id: trader });
const close = (market: string) =>
  operate("set_market_status", { market_id: market, status: "closed" });
const limit = (trader: string, day_cents: number) =>
  operate("set_loss_limits", { user_id: trader, day_cents, week_cents: null, month_cents: null });

const malformed: Record<string, Partial<Request>> = {
  "without a side": { side: undefined as never, price: 50, quantity: 1 },
  "with price 0": { side: "yes", price: 0, quantity: 1 },
  "with price 100": { side: "yes", price: 100, quantity: 1 },
  "with quantity 0": { side: "yes", price: 50, quantity: 0 },
  "with quantity 10001": { side: "yes", price: 50, quantity: 10_001 },
  "with budget 0": { side: "yes", budgetCents: 0 },
  "with budget 1000001": { side: "yes", budgetCents: 1_000_001 },
  "to sell for a budget": { side: "yes", budgetCents: 100, orderType: "sell" },
  "to sell a quantity for a budget": {
    side: "yes",
    quantity: 1,
    budgetCents: 100,
    orderType: "sell",
  },
  "with neither quantity nor budget": { side: "yes", price: 50 },
  "with both quantity and budget": { side: "yes", price: 50, quantity: 1, budgetCents: 100 },
  "to sell without a quantity": { side: "yes", price: 50, orderType: "sell" },
  "that is postOnly and ioc": { ...buy("yes", 1, 50), ...postOnly, ...ioc },
  "that has expired": { ...buy("yes", 1, 50), ...past },
};
for (const [flaw, request] of Object.entries(malformed)) {
  test(`INVALID_REQUEST: an order ${flaw}`, async (t) => {
    const [market, trader] = await makeMarketWith(1);
    const [outcome] = await placeBatch(market, [[trader, request as Request]]);
    t.is(outcome!.code, "INVALID_REQUEST");
    t.truthy(outcome!.message);
    t.is(outcome!.answer, null);
  });
}

test("INVALID_REQUEST: a price out of bounds does not harm the orders beside it", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  for (const price of [-1, 0, 100, 199, 300]) {
    const outcomes = await placeBatch(market, [
      [ann, { side: "yes", price, quantity: 1 }],
      [bob, buy("yes", 1, 50)],
      [ann, { side: "no", price, quantity: 1 }],
    ]);
    t.deepEqual(codesOf(outcomes), ["INVALID_REQUEST", null, "INVALID_REQUEST"]);
  }
});

for (const [edge, request] of Object.entries<Request>({
  "price 1": buy("yes", 1, 1),
  "price 99": buy("yes", 1, 99),
  "quantity 10,000": buy("yes", 10_000, 1),
})) {
  test(`an order at the edge is accepted: ${edge}`, async (t) => {
    const [market, trader] = await makeMarketWith(1);
    t.is((await rest(market, trader, request)).length, 1);
  });
}

test("a value of the wrong type fails the whole call", async (t) => {
  const [market, trader] = await makeMarketWith(1);
  for (const wrong of [
    { side: "maybe" },
    { price: "cheap" },
    { quantity: 1.5 },
    { timeInForce: "day" },
    { expiresAt: "soon" },
    { idempotencyKey: "mine" },
  ]) {
    const batch: [string, Request][] = [
      [trader, buy("yes", 1, 50)],
      [trader, { ...buy("yes", 1, 50), ...wrong } as Request],
    ];
    await t.throwsAsync(placeBatch(market, batch));
  }
  t.deepEqual((await exchange.orders(trader, { status: "all" })).data, []);
});

test("no requests have no results", async (t) => {
  t.deepEqual(await placeBatch(await makeMarket(), []), []);
});

test("UNAUTHORIZED: an unknown user, alone or among others", async (t) => {
  const [market, trader] = await makeMarketWith(1);
  t.is(await refusal(market, nowhere, buy("yes", 1, 50)), "UNAUTHORIZED");
  const outcomes = await placeBatch(market, [
    [nowhere, buy("yes", 1, 50)],
    [trader, buy("yes", 1, 50)],
  ]);
  t.deepEqual(codesOf(outcomes), ["UNAUTHORIZED", null]);
});

test("UNAUTHORIZED: a batch of unknown users only", async (t) => {
  const outcomes = await placeBatch(await makeMarket(), [
    [nowhere, buy("yes", 1, 50)],
    [nowhere, buy("yes", 1, 50)],
  ]);
  t.deepEqual(codesOf(outcomes), ["UNAUTHORIZED", "UNAUTHORIZED"]);
});

test("MARKET_NOT_FOUND: an unknown market, alone or in a batch", async (t) => {
  const trader = await makeTrader();
  t.is(await refusal(nowhere, trader, buy("yes", 1, 50)), "MARKET_NOT_FOUND");
  const outcomes = await placeBatch(nowhere, [
    [trader, buy("yes", 1, 50)],
    [trader, buy("no", 1, 50)],
  ]);
  t.deepEqual(codesOf(outcomes), ["MARKET_NOT_FOUND", "MARKET_NOT_FOUND"]);
});

test("MARKET_NOT_OPEN: a market that is paused or closed", async (t) => {
  const [market, trader] = await makeMarketWith(1);
  await operate("set_market_status", { market_id: market, status: "paused" });
  t.is(await refusal(market, trader, buy("yes", 1, 50)), "MARKET_NOT_OPEN");
  await close(market);
  t.is(await refusal(market, trader, buy("yes", 1, 50)), "MARKET_NOT_OPEN");
});

test.serial(
  "MARKET_NOT_OPEN: from the close time on, though nothing has closed it yet",
  async (t) => {
    await clock.freeze("2040-01-01T11:59:59.999Z");
    const market = await makeMarket({ close_time: "2040-01-01T12:00:00Z" });
    const trader = await makeTrader();
    await rest(market, trader, buy("yes", 1, 50));
    await clock.advance(1);
    t.is(await refusal(market, trader, buy("yes", 1, 50)), "MARKET_NOT_OPEN");
    t.is((await exchange.market(market)).status, "open");
    await clock.release();
  },
);

test("LIMITS_SETUP_REQUIRED: until the loss limits were reviewed once", async (t) => {
  const [market, trader] = await makeMarketWith(1, { reviewed: false });
  t.is(await refusal(market, trader, buy("yes", 1, 50)), "LIMITS_SETUP_REQUIRED");
  t.is(await refusal(market, trader, sell("yes", 1, 50)), "LIMITS_SETUP_REQUIRED");
  await limit(trader, 1000);
  t.is((await rest(market, trader, buy("yes", 1, 50))).length, 1);
});

test("INSUFFICIENT_BALANCE: a buy costs more than the balance, resting or not", async (t) => {
  const [market, trader] = await makeMarketWith(1, { cents: 499 });
  t.is(await refusal(market, trader, buy("yes", 10, 50)), "INSUFFICIENT_BALANCE");
  const richer = await makeTrader({ cents: 500 });
  // Nothing is reserved: each order is checked by itself.
  t.is((await rest(market, richer, buy("yes", 10, 50), buy("yes", 10, 50))).length, 2);
});

test("INSUFFICIENT_BALANCE: fills, fee and resting remainder count together", async (t) => {
  const [market, maker] = await makeMarketWith(1);
  await rest(market, maker, buy("no", 10, 60));
  // 10 at 40 and 16.8 of fee, 5 more resting at 45: 400 + 17 + 225.
  const short = await makeTrader({ cents: 641 });
  t.is(await refusal(market, short, buy("yes", 15, 45)), "INSUFFICIENT_BALANCE");
  const enough = await makeTrader({ cents: 642 });
  t.is((await place(market, enough, buy("yes", 15, 45))).balance.total, 225);
});

test("INSUFFICIENT_BALANCE: a sell of more shares than are held on that side", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 10);
  await rest(market, bob, buy("yes", 20, 30), buy("no", 20, 30));
  t.is(await refusal(market, ann, sell("yes", 11, 60)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, ann, sell("yes", 11, 30)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, ann, sell("yes", 11)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, ann, sell("no", 1)), "INSUFFICIENT_BALANCE");
  // Other open sells don't count.
  t.is((await rest(market, ann, sell("yes", 10, 60), sell("yes", 10, 61))).length, 2);
});

test("a seller needs no cash", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 10);
  const cents = await exchange.balance(ann);
  await operate("withdraw", { user_id: ann, amount_cents: cents, reference: "all" });
  await rest(market, bob, buy("yes", 10, 50));
  t.is((await place(market, ann, sell("yes", 10, 50))).balance.total, 500 - 18);
});

// Which refusal wins. Each line makes both apply; the first named must be the answer.

test.serial("INVALID_REQUEST before a replay", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = { idempotencyKey: randomUUID() };
  await rest(market, ann, buy("yes", 1, 50, key));
  t.is(await refusal(market, ann, buy("yes", 0, 50, key)), "INVALID_REQUEST");
});

test.serial("INVALID_REQUEST before TRADING_PAUSED", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await pause(true);
  const code = await refusal(market, ann, buy("yes", 0, 50));
  await pause(false);
  t.is(code, "INVALID_REQUEST");
});

test.serial(
  "INVALID_REQUEST (expired) before TRADING_PAUSED and all that follows it",
  async (t) => {
    const [market, ann] = await makeMarketWith(1, { reviewed: false });
    t.is(await refusal(market, ann, buy("yes", 1, 50, past)), "INVALID_REQUEST");
    await exclude(ann);
    t.is(await refusal(market, ann, buy("yes", 1, 50, past)), "INVALID_REQUEST");
    await pause(true);
    const paused = await refusal(nowhere, ann, buy("yes", 1, 50, past));
    await pause(false);
    t.is(paused, "INVALID_REQUEST");
    t.is(await refusal(nowhere, ann, buy("yes", 1, 50, past)), "INVALID_REQUEST");
  },
);

test.serial(
  "a replay before INVALID_REQUEST (expired): the order was sound when it came",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    await clock.freeze("2040-02-01T12:00:00Z");
    const expiresAt = "2040-02-01T12:00:05Z";
    const request = buy("yes", 1, 50, { idempotencyKey: randomUUID(), expiresAt });
    const [order] = await rest(market, ann, request);
    await clock.freeze("2040-02-01T12:00:06Z");
    const [again] = await placeBatch(market, [[ann, request]]);
    t.like(again, { code: null, replayed: true });
    t.is(again!.answer!.order.id, order);
    // A key that stands for no order lets nothing through.
    const fresh = { ...request, idempotencyKey: randomUUID() };
    t.is(await refusal(market, ann, fresh), "INVALID_REQUEST");
    await clock.release();
  },
);

test.serial("a replay before TRADING_PAUSED and all that follows it", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const request = buy("yes", 1, 50, { idempotencyKey: randomUUID() });
  const [order] = await rest(market, ann, request);
  await close(market);
  await exclude(ann);
  await pause(true);
  const outcomes = await placeBatch(market, [[ann, request]]);
  await pause(false);
  t.like(outcomes[0], { code: null, replayed: true });
  t.like(outcomes[0]!.answer!.order, { id: order, status: "cancelled" });
});

test.serial("TRADING_PAUSED before SELF_EXCLUDED", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await exclude(ann);
  await pause(true);
  const code = await refusal(market, ann, buy("yes", 1, 50));
  await pause(false);
  t.is(code, "TRADING_PAUSED");
});

test("SELF_EXCLUDED before ACCOUNT_FROZEN before LIMITS_SETUP_REQUIRED", async (t) => {
  const [market, ann] = await makeMarketWith(1, { reviewed: false });
  await operate("freeze_user", { user_id: ann, reason: "why" });
  t.is(await refusal(market, ann, buy("yes", 1, 50)), "ACCOUNT_FROZEN");
  t.is((await exchange.split(market, ann, 1)).code, "ACCOUNT_FROZEN");
  t.is((await exchange.amend(ann, nowhere, { price: 1 })).code, "ACCOUNT_FROZEN");
  await exclude(ann);
  t.is(await refusal(market, ann, buy("yes", 1, 50)), "SELF_EXCLUDED");
  t.is((await exchange.amend(ann, nowhere, { price: 1 })).code, "SELF_EXCLUDED");
});

test("SELF_EXCLUDED before LIMITS_SETUP_REQUIRED", async (t) => {
  const [market, ann] = await makeMarketWith(1, { reviewed: false });
  await exclude(ann);
  t.is(await refusal(market, ann, buy("yes", 1, 50)), "SELF_EXCLUDED");
});

test("LIMITS_SETUP_REQUIRED before MARKET_NOT_FOUND and MARKET_NOT_OPEN", async (t) => {
  const [market, ann] = await makeMarketWith(1, { reviewed: false });
  t.is(await refusal(nowhere, ann, buy("yes", 1, 50)), "LIMITS_SETUP_REQUIRED");
  await close(market);
  t.is(await refusal(market, ann, buy("yes", 1, 50)), "LIMITS_SETUP_REQUIRED");
});

test("MARKET_NOT_FOUND before INSUFFICIENT_LIQUIDITY", async (t) => {
  const ann = await makeTrader();
  t.is(await refusal(nowhere, ann, buy("yes", 1)), "MARKET_NOT_FOUND");
});

test("MARKET_NOT_OPEN before INSUFFICIENT_LIQUIDITY", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await close(market);
  t.is(await refusal(market, ann, buy("yes", 1)), "MARKET_NOT_OPEN");
});

test("INVALID_REQUEST (expired) before SELF_TRADE_BLOCKED", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("no", 1, 50));
  t.is(await refusal(market, ann, buy("yes", 1, 50, past)), "INVALID_REQUEST");
});

test("SELF_TRADE_BLOCKED before POST_ONLY_WOULD_CROSS", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 1, 50));
  t.is(await refusal(market, ann, buy("yes", 1, 50, postOnly)), "SELF_TRADE_BLOCKED");
  await rest(market, bob, buy("no", 1, 51)); // now another user's order is met first
  t.is(await refusal(market, ann, buy("yes", 2, 50, postOnly)), "SELF_TRADE_BLOCKED");
  t.is(await refusal(market, ann, buy("yes", 1, 50, postOnly)), "POST_ONLY_WOULD_CROSS");
});

test("SELF_TRADE_BLOCKED before INSUFFICIENT_LIQUIDITY", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("no", 1, 50));
  t.is(await refusal(market, ann, buy("yes", 1)), "SELF_TRADE_BLOCKED");
});

test("POST_ONLY_WOULD_CROSS before INSUFFICIENT_BALANCE and LOSS_LIMIT", async (t) => {
  const [market, bob] = await makeMarketWith(1);
  await rest(market, bob, buy("no", 1, 50), buy("yes", 1, 40));
  const poor = await makeTrader({ cents: 1 });
  t.is(await refusal(market, poor, buy("yes", 1, 50, postOnly)), "POST_ONLY_WOULD_CROSS");
  t.is(await refusal(market, poor, sell("yes", 1, 40, postOnly)), "POST_ONLY_WOULD_CROSS");
  const limited = await makeTrader({ limits: [0, null, null] });
  t.is(await refusal(market, limited, buy("yes", 1, 50, postOnly)), "POST_ONLY_WOULD_CROSS");
});

test("INSUFFICIENT_LIQUIDITY before INSUFFICIENT_BALANCE and LOSS_LIMIT", async (t) => {
  const [market, poor] = await makeMarketWith(1, { cents: 0 });
  t.is(await refusal(market, poor, buy("yes", 1)), "INSUFFICIENT_LIQUIDITY");
  t.is(await refusal(market, poor, buy("yes", 1, 50, ioc)), "INSUFFICIENT_LIQUIDITY");
  t.is(await refusal(market, poor, spend("yes", 1000)), "INSUFFICIENT_LIQUIDITY");
  t.is(await refusal(market, poor, sell("yes", 1)), "INSUFFICIENT_LIQUIDITY");
  const limited = await makeTrader({ limits: [0, null, null] });
  t.is(await refusal(market, limited, buy("yes", 1)), "INSUFFICIENT_LIQUIDITY");
});

test("INSUFFICIENT_BALANCE before LOSS_LIMIT", async (t) => {
  const [market, poor] = await makeMarketWith(1, { cents: 10, limits: [1, null, null] });
  t.is(await refusal(market, poor, buy("yes", 1, 50)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, poor, buy("yes", 1, 2)), "LOSS_LIMIT");
});

test.serial("a rejection of any code leaves every table as it was", async (t) => {
  const market = await makeMarket();
  const closed = await makeMarket();
  await close(closed);
  const [ann, bob] = await makeTraders(2);
  const limited = await makeTrader({ limits: [0, null, null] });
  const poor = await makeTrader({ cents: 0 });
  const unreviewed = await makeTrader({ reviewed: false });
  const excluded = await makeTrader();
  await exclude(excluded);
  await rest(market, ann, buy("no", 10, 40));
  await rest(market, bob, buy("no", 10, 39));
  const key = { idempotencyKey: randomUUID() };

  const before = await exchange.dump();
  const codes: string[] = [];
  for (const [where, who, request] of [
    [market, ann, buy("yes", 0, 1, key)],
    [market, excluded, buy("yes", 1, 1, key)],
    [market, unreviewed, buy("yes", 1, 1, key)],
    [nowhere, ann, buy("yes", 1, 1, key)],
    [closed, ann, buy("yes", 1, 1, key)],
    [market, bob, buy("yes", 11, 62, key)],
    [market, poor, buy("yes", 1, 62, { ...postOnly, ...key })],
    [market, ann, buy("no", 1, undefined, key)],
    [market, poor, buy("yes", 1, 62, key)],
    [market, limited, buy("yes", 1, 62, key)],
  ] as const) {
    codes.push(await refusal(where, who, request));
    t.deepEqual(await exchange.dump(), before);
  }
  t.deepEqual(codes, [
    ...["INVALID_REQUEST", "SELF_EXCLUDED", "LIMITS_SETUP_REQUIRED", "MARKET_NOT_FOUND"],
    ...["MARKET_NOT_OPEN", "SELF_TRADE_BLOCKED", "POST_ONLY_WOULD_CROSS", "INSUFFICIENT_LIQUIDITY"],
    ...["INSUFFICIENT_BALANCE", "LOSS_LIMIT"],
  ]);
});
