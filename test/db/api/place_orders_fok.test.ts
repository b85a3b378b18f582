import test from "ava";
import { leaveCash } from "../../helpers/exchange/scenes.ts";
import { buy, sell, spend } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Orders that are filled as a whole or rejected, and orders that cancel own resting ones. */

const exchange = testExchange(test);
const { book, clock, giveShares, makeLiveMarket, makeMarket, makeMarketWith, makeTrader, order } =
  exchange;
const { place, refusal, rest, version } = exchange;

const fok = { timeInForce: "fok" } as const;
const cancelling = { selfTrade: "cancel_resting" } as const;

test("fok: filled as a whole, over several makers", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, bob, buy("no", 3, 40), buy("no", 3, 39));
  const placed = await place(market, ann, buy("yes", 5, 61, fok));
  t.like(placed.order, { status: "filled", filledQuantity: 5, timeInForce: "fok" });
  t.deepEqual(await book(market), { bids: [], asks: ["1 @ 61"] });
});

test("INSUFFICIENT_LIQUIDITY: fok with one share too few; nothing happens", async (t) => {
  const [market, ann, bob, cem] = await makeMarketWith(3);
  await rest(market, bob, buy("no", 3, 40), buy("no", 3, 39), buy("no", 9, 38));
  const before = await version(market);
  t.is(await refusal(market, ann, buy("yes", 7, 61, fok)), "INSUFFICIENT_LIQUIDITY");
  t.is(await version(market), before);
  t.deepEqual((await exchange.orders(ann, { status: "all" })).data, []);
  t.deepEqual(await book(market), { bids: [], asks: ["3 @ 60", "3 @ 61", "9 @ 62"] });
  // The book is still met in its order, also by later orders of the same call.
  const [rejected, filled] = await exchange.placeBatch(market, [
    [ann, buy("yes", 16, 62, fok)],
    [cem, buy("yes", 4, 62)],
  ]);
  t.is(rejected!.code, "INSUFFICIENT_LIQUIDITY");
  t.deepEqual(
    filled!.answer!.fills.map(({ price, quantity }) => [price, quantity]),
    [
      [60, 3],
      [61, 1],
    ],
  );
});

// It moves the clock, and so runs before the others.
test.serial("INSUFFICIENT_LIQUIDITY: fok without what has expired; nothing happens", async (t) => {
  t.teardown(() => clock.release());
  await clock.freeze("2030-01-01T12:00:00Z");
  const [market, ann, bob] = await makeMarketWith(2);
  const expiry = { expiresAt: "2030-01-01T12:00:01.000Z" };
  await rest(market, bob, buy("no", 5, 40, expiry), buy("no", 3, 39));
  await clock.advance(2000);
  const before = await version(market);
  t.is(await refusal(market, ann, buy("yes", 8, 61, fok)), "INSUFFICIENT_LIQUIDITY");
  t.is(await version(market), before);
});

test("INSUFFICIENT_LIQUIDITY: fok that finds a maker without cash; what it met stays", async (t) => {
  const [market, ann, bob, cem, dan] = await makeMarketWith(4);
  await rest(market, bob, buy("no", 3, 40));
  await rest(market, dan, buy("no", 3, 39));
  await leaveCash(exchange, dan, 0);
  const [rejected, filled] = await exchange.placeBatch(market, [
    [ann, buy("yes", 6, 61, fok)],
    [cem, buy("yes", 3, 61)],
  ]);
  t.is(rejected!.code, "INSUFFICIENT_LIQUIDITY");
  t.like(filled!.answer!.order, { status: "filled", filledQuantity: 3 });
  t.deepEqual(await book(market), { bids: [], asks: [] });
});

test("INSUFFICIENT_BALANCE: liquidity comes first, also in a deep book", async (t) => {
  const market = await makeMarket();
  const [ann, bob] = [await makeTrader({ cents: 100 }), await makeTrader()];
  await rest(market, bob, ...Array.from({ length: 30 }, () => buy("no", 10, 40)));
  t.is(await refusal(market, ann, buy("yes", 300, 60, fok)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, ann, buy("yes", 301, 60, fok)), "INSUFFICIENT_LIQUIDITY");
});

test("SELF_TRADE_BLOCKED: fok for more than the book has, with an own order in reach", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2, { cents: 1_000_000 });
  await rest(market, bob, buy("no", 5, 40));
  await rest(market, ann, buy("no", 1, 39)); // YES at 61
  for (const quantity of [7, 700]) {
    t.is(await refusal(market, ann, buy("yes", quantity, 60, fok)), "INSUFFICIENT_LIQUIDITY");
    t.is(await refusal(market, ann, buy("yes", quantity, 61, fok)), "SELF_TRADE_BLOCKED");
  }
});

test("fok: market orders, sells and budgets", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 10);
  await rest(market, bob, buy("yes", 5, 40));
  t.is(await refusal(market, ann, sell("yes", 6, 40, fok)), "INSUFFICIENT_LIQUIDITY");
  t.like((await place(market, ann, sell("yes", 5, undefined, fok))).order, {
    ...{ status: "filled", timeInForce: "fok" },
  });
  await rest(market, bob, buy("no", 5, 50));
  t.is(await refusal(market, ann, spend("yes", 1000, fok)), "INSUFFICIENT_LIQUIDITY");
  t.like((await place(market, ann, spend("yes", 200, fok))).order, { status: "filled" });
});

test("INVALID_REQUEST: fok and postOnly", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  t.is(
    await refusal(market, ann, buy("yes", 1, 40, { ...fok, postOnly: true })),
    "INVALID_REQUEST",
  );
});

test("fok on a live market is decided at its release", async (t) => {
  const { market } = await makeLiveMarket({ live_delay_ms: 0 });
  const ann = await makeTrader();
  const { order: scheduled } = await place(market, ann, buy("yes", 5, 40, fok));
  t.is(scheduled.status, "scheduled");
  await exchange.release(market);
  t.like(await order(ann, scheduled.id), {
    ...{ status: "cancelled", cancelReason: "insufficient_liquidity", filledQuantity: 0 },
  });
});

test("cancel_resting: own orders that are met go, are listed, and it goes on", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [own] = await rest(market, ann, buy("no", 4, 41));
  await rest(market, bob, buy("no", 3, 40));
  const [behind] = await rest(market, ann, buy("no", 2, 39));
  const placed = await place(market, ann, buy("yes", 3, 61, cancelling));
  t.is(placed.order.status, "filled");
  t.deepEqual(
    placed.cancelledOrders.map(({ id, cancelReason }) => [id, cancelReason]),
    [[own, "self_trade"]],
  );
  t.like(await order(ann, own), { status: "cancelled", cancelReason: "self_trade" });
  t.is((await order(ann, behind)).status, "open");
  t.deepEqual(await book(market), { bids: [], asks: ["2 @ 61"] });
});

test("cancel_resting: 200 own orders at most, and none if there are more in the way", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, ...Array.from({ length: 201 }, () => buy("no", 1, 45)));
  await rest(market, bob, buy("no", 1, 40));
  const reaching = buy("yes", 1, 60, cancelling);
  t.is(await refusal(market, ann, reaching), "SELF_TRADE_BLOCKED");
  t.deepEqual(await exchange.book(market), { bids: [], asks: ["201 @ 55", "1 @ 60"] });
  await place(market, bob, buy("yes", 1, 55));
  const { order, cancelledOrders } = await place(market, ann, reaching);
  t.is(order.status, "filled");
  t.is(cancelledOrders.length, 200);
  t.deepEqual(await exchange.book(market), { bids: [], asks: [] });
});

test("cancel_resting: a rejected order cancels nothing", async (t) => {
  const market = await makeMarket();
  const [ann, bob] = [await makeTrader({ cents: 1000 }), await makeTrader()];
  const [own] = await rest(market, ann, buy("no", 4, 41));
  await rest(market, bob, buy("no", 90, 40));
  const requests = [
    ["INSUFFICIENT_BALANCE", buy("yes", 50, 61, cancelling)],
    ["INSUFFICIENT_LIQUIDITY", buy("yes", 1, 59, { ...cancelling, timeInForce: "ioc" })],
    ["INSUFFICIENT_LIQUIDITY", buy("yes", 91, 60, { ...cancelling, ...fok })],
    ["POST_ONLY_WOULD_CROSS", buy("yes", 1, 60, { ...cancelling, postOnly: true })],
    ["SELF_TRADE_BLOCKED", buy("yes", 1, 60, { selfTrade: "reject" })],
    ["SELF_TRADE_BLOCKED", buy("yes", 1, 60)],
  ] as const;
  for (const [code, request] of requests) {
    t.is(await refusal(market, ann, request), code);
    t.is((await order(ann, own)).status, "open");
    t.deepEqual(await book(market), { bids: [], asks: ["4 @ 59", "90 @ 60"] });
  }
});

test("cancel_resting: postOnly that meets only own orders rests", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("no", 4, 41));
  const request = buy("yes", 1, 60, { ...cancelling, postOnly: true });
  t.is((await place(market, ann, request)).order.status, "open");
  t.deepEqual(await book(market), { bids: ["1 @ 60"], asks: [] });
});

test("LOSS_LIMIT: own orders that go do not count", async (t) => {
  const [market, ann] = await makeMarketWith(1, { limits: [500, null, null] });
  await rest(market, ann, buy("no", 10, 45));
  t.is(await refusal(market, ann, buy("yes", 8, 54)), "LOSS_LIMIT");
  t.is((await place(market, ann, buy("yes", 9, 55, cancelling))).order.status, "open");
});

test("cancel_resting is kept through the delay of a live market", async (t) => {
  const { market, event } = await makeLiveMarket({ live: false });
  const ann = await makeTrader();
  const [own] = await rest(market, ann, buy("no", 4, 41));
  await exchange.operate("set_event_live", { event_id: event, live: true, live_delay_ms: 0 });
  const { order: scheduled } = await place(market, ann, buy("yes", 1, 60, cancelling));
  t.is(scheduled.status, "scheduled");
  await exchange.release(market);
  t.is((await order(ann, scheduled.id)).status, "open");
  t.is((await order(ann, own)).cancelReason, "self_trade");
});

test("INVALID_REQUEST: another selfTrade", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  t.is(
    await refusal(market, ann, buy("yes", 1, 1, { selfTrade: "x" as never })),
    "INVALID_REQUEST",
  );
});
