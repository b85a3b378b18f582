import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell, shown, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** SELF_TRADE_BLOCKED, when and only when the caller's own order is reached before it is full. */

const exchange = testExchange(test);
const { clock, giveShares, makeMarketWith, operate, place, refusal, rest } = exchange;

/** Bob offers 10 YES at 55, Ann 10 at 60. */
async function makeOffered() {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, bob, buy("no", 10, 45));
  const [own] = await rest(market, ann, buy("no", 10, 40));
  return { market, ann, bob, own };
}

const reaching: [string, Request][] = [
  ["a limit buy", buy("yes", 11, 60)],
  ["an ioc buy", buy("yes", 11, 60, ioc)],
  ["a market buy", buy("yes", 11)],
  ["a budget buy", spend("yes", 5000)],
];
for (const [kind, request] of reaching) {
  test(`SELF_TRADE_BLOCKED: ${kind} would reach the caller's own order`, async (t) => {
    const { market, ann } = await makeOffered();
    t.is(await refusal(market, ann, request), "SELF_TRADE_BLOCKED");
    t.deepEqual(await exchange.book(market), { bids: [], asks: ["10 @ 55", "10 @ 60"] });
    t.is(await exchange.balance(ann), 100_000);
  });
}

test("SELF_TRADE_BLOCKED: a sell would reach the caller's own bid", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await giveShares(market, ann, "yes", 10);
  await rest(market, ann, buy("yes", 5, 40));
  t.is(await refusal(market, ann, sell("yes", 10, 40)), "SELF_TRADE_BLOCKED");
  t.is(await refusal(market, ann, sell("yes", 10)), "SELF_TRADE_BLOCKED");
});

test("SELF_TRADE_BLOCKED: a buy would take the caller's own shares", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await giveShares(market, ann, "no", 10);
  await rest(market, ann, sell("no", 10, 70));
  t.is(await refusal(market, ann, buy("no", 1, 70)), "SELF_TRADE_BLOCKED");
});

test("an order that is full before it reaches the caller's own is no self-trade", async (t) => {
  const { market, ann } = await makeOffered();
  const answer = await place(market, ann, buy("yes", 10, 60));
  t.deepEqual(shown(answer.fills), ["10 @ 55"]);
  t.is(answer.order.status, "filled");
});

test("an own order beyond the limit is no self-trade", async (t) => {
  const { market, ann } = await makeOffered();
  const answer = await place(market, ann, buy("yes", 15, 59));
  t.like(answer.order, { status: "partially_filled", filledQuantity: 10 });
});

test("a budget that is spent before it reaches the caller's own order is no self-trade", async (t) => {
  const { market, ann } = await makeOffered();
  // 10 at 55 cost 550 and 17.325; what is left can't pay for one at 60.
  const answer = await place(market, ann, spend("yes", 570));
  t.like(answer.order, { status: "filled", quantity: 10 });
});

test("own orders of the same stored side never meet", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await giveShares(market, ann, "yes", 10);
  await rest(market, ann, sell("yes", 10, 60), buy("no", 10, 40), buy("yes", 10, 59));
  t.deepEqual(await exchange.book(market), { bids: ["10 @ 59"], asks: ["20 @ 60"] });
});

test("SELF_TRADE_BLOCKED: also if the own order has no cash behind it", async (t) => {
  const { market, ann } = await makeOffered();
  await operate("withdraw", { user_id: ann, amount_cents: 99_980, reference: "out" });
  t.is(await refusal(market, ann, buy("yes", 11, 60)), "SELF_TRADE_BLOCKED");
});

test.serial("an own order past its expiry is no self-trade: it expires", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const [own] = await rest(market, ann, buy("no", 10, 45, { expiresAt }));
  await rest(market, bob, buy("no", 10, 40));
  await clock.advance(60_000);
  const answer = await place(market, ann, buy("yes", 10, 60));
  t.deepEqual(shown(answer.fills), ["10 @ 60"]);
  t.deepEqual(
    answer.cancelledOrders.map(({ id, cancelReason }) => ({ id, cancelReason })),
    [{ id: own, cancelReason: "expired" }],
  );
});

test.serial("nor is one for a fok order that the book cannot fill", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  await rest(market, ann, buy("no", 10, 45, { expiresAt }));
  await rest(market, bob, buy("no", 10, 40));
  await clock.advance(3_600_000);
  // What the second order can reach is read for the first one, too.
  const [first] = await exchange.placeBatch(market, [
    [ann, buy("yes", 11, 60, { timeInForce: "fok" })],
    [cid, buy("yes", 1, 60)],
  ]);
  t.is(first!.code, "INSUFFICIENT_LIQUIDITY");
});

test.serial("SELF_TRADE_BLOCKED changes nothing, and cancels no makers met before", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  await rest(market, bob, buy("no", 10, 45));
  await rest(market, cid, buy("no", 10, 44));
  await rest(market, ann, buy("no", 10, 43));
  await operate("withdraw", { user_id: bob, amount_cents: 100_000, reference: "all" });
  const before = await exchange.dump();
  t.is(await refusal(market, ann, buy("yes", 11, 60)), "SELF_TRADE_BLOCKED");
  t.deepEqual(await exchange.dump(), before);
});
