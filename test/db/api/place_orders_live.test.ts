import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, postOnly, sell, spend } from "../../helpers/exchange/orders.ts";

/** Orders on a live market: accepted as scheduled, judged by what does not depend on the book. */

const exchange = testExchange(test);
const { balance, book, cancel, clock, giveShares, makeLiveMarket } = exchange;
const { makeTrader, operate, order, orders, place, placeBatch, refusal, version } = exchange;

test.before("stop the clock", () => clock.freeze("2026-03-01T12:00:00Z"));

test("an order is scheduled: nothing trades, no fee, not in the book, the version stays", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await exchange.makeTraders(2);
  await place(market, bob, buy("no", 10, 60));
  const before = await version(market);
  const { order: placed, fills, feeCents } = await place(market, ann, buy("yes", 10, 45));
  t.like(placed, {
    status: "scheduled",
    price: 45,
    quantity: 10,
    filledQuantity: 0,
    timeInForce: "gtc",
    releaseAt: "2026-03-01T12:00:03.000Z",
    releaseInMs: 3000,
    budgetCents: null,
  });
  t.deepEqual(fills, []);
  t.is(feeCents, null);
  t.is(await balance(ann), 100_000);
  t.deepEqual(await book(market), { bids: [], asks: [] });
  t.is(await version(market), before);
  t.like(await order(ann, placed.id), { status: "scheduled", releaseInMs: 3000, sharesAhead: 0 });
});

test("the delay is the event's own", async (t) => {
  const { market, event } = await makeLiveMarket({ live_delay_ms: 750 });
  const ann = await makeTrader();
  t.is((await place(market, ann, buy("yes", 1, 10))).order.releaseInMs, 750);
  await operate("set_event_live", { event_id: event, live: true, live_delay_ms: 0 });
  t.is((await place(market, ann, buy("yes", 1, 10))).order.releaseInMs, 0);
  await operate("set_event_live", { event_id: event, live: false });
  t.is((await place(market, ann, buy("yes", 1, 10))).order.status, "open");
});

for (const { name, starts_at, ends_at, live } of [
  { name: "before its start", starts_at: "2026-03-01T12:00:01Z", ends_at: null, live: false },
  { name: "from its start on", starts_at: "2026-03-01T12:00:00Z", ends_at: null, live: true },
  { name: "until its end", starts_at: null, ends_at: "2026-03-01T12:00:01Z", live: true },
  { name: "at its end", starts_at: null, ends_at: "2026-03-01T12:00:00Z", live: false },
]) {
  test(`an event is ${live ? "" : "not "}live ${name}`, async (t) => {
    const { market } = await makeLiveMarket({ starts_at, ends_at });
    const { order: placed } = await place(market, await makeTrader(), buy("yes", 1, 10));
    t.is(placed.status, live ? "scheduled" : "open");
  });
}

test("order_pending is sent once, and not again for a replay", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const listener = await exchange.listen();
  const idempotencyKey = randomUUID();
  const first = await place(market, ann, spend("no", 500, { idempotencyKey }));
  t.like(first.order, { quantity: 0, budgetCents: 500, timeInForce: "ioc", price: 99 });
  const [again] = await placeBatch(market, [[ann, spend("no", 500, { idempotencyKey })]]);
  t.true(again!.replayed);
  t.deepEqual(again!.answer!.order, first.order);
  t.is(again!.answer!.feeCents, null);
  const { users, markets } = await listener.heard();
  t.deepEqual(
    users.filter(({ userId }) => userId === ann).map(({ event }) => event),
    [
      {
        type: "order_pending",
        orderId: first.order.id,
        marketId: market,
        side: "no",
        price: 99,
        quantity: 0,
        releaseAt: "2026-03-01T12:00:03.000Z",
        budgetCents: 500,
      },
    ],
  );
  t.deepEqual(
    markets.filter(({ marketId }) => marketId === market),
    [],
  );
});

test("two requests with one key in a batch are one scheduled order", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const request = buy("yes", 1, 10, { idempotencyKey: randomUUID() });
  const [first, second] = await placeBatch(market, [
    [ann, request],
    [ann, request],
  ]);
  t.deepEqual([first!.replayed, second!.replayed], [false, true]);
  t.deepEqual(second!.answer!.order, first!.answer!.order);
  t.is((await orders(ann, { status: "scheduled" })).data.length, 1);
});

test("INSUFFICIENT_BALANCE: a limit buy must be covered without its fee, a budget in full", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader({ cents: 1000 });
  t.is(await refusal(market, ann, buy("yes", 101, 10)), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, ann, spend("yes", 1001)), "INSUFFICIENT_BALANCE");
  for (const request of [buy("yes", 100, 10), spend("yes", 1000), buy("yes", 100, 10, ioc)]) {
    t.is((await place(market, ann, request)).order.status, "scheduled");
  }
});

test("a market buy by quantity needs no funds yet", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader({ cents: 1 });
  t.is((await place(market, ann, buy("yes", 10_000))).order.status, "scheduled");
});

test("INSUFFICIENT_BALANCE: a sell needs the position", async (t) => {
  const { market, event } = await makeLiveMarket({ live: false });
  const ann = await makeTrader();
  await giveShares(market, ann, "yes", 10);
  await operate("set_event_live", { event_id: event, live: true });
  t.is(await refusal(market, ann, sell("yes", 11)), "INSUFFICIENT_BALANCE");
  t.is((await place(market, ann, sell("yes", 10))).order.status, "scheduled");
  t.is((await place(market, ann, sell("yes", 10, 20))).order.status, "scheduled");
});

test("LOSS_LIMIT: scheduled orders count with their fee, a market buy at 99, a budget in full", async (t) => {
  const { market } = await makeLiveMarket();
  const idle = await exchange.makeMarket();
  // 10 shares at 50 can cost 500 and a fee of 17.5, so 518.
  const ann = await makeTrader({ limits: [1000, null, null] });
  await place(market, ann, buy("yes", 10, 50));
  t.is(await refusal(idle, ann, buy("yes", 483, 1)), "LOSS_LIMIT");
  t.is((await place(idle, ann, buy("yes", 482, 1))).order.status, "open");
  // 5 at 99 can cost 495 and a fee of 0.35, so 496.
  const bob = await makeTrader({ limits: [1000, null, null] });
  await place(market, bob, buy("no", 5));
  t.is(await refusal(market, bob, spend("no", 505)), "LOSS_LIMIT");
  await place(market, bob, spend("no", 504));
  t.is(await refusal(idle, bob, buy("yes", 1, 1)), "LOSS_LIMIT");
  // The first of a batch counts for the second.
  const cid = await makeTrader({ limits: [1000, null, null] });
  const [first, second] = await placeBatch(market, [
    [cid, spend("yes", 600)],
    [cid, spend("yes", 600)],
  ]);
  t.is(first!.code, null);
  t.is(second!.code, "LOSS_LIMIT");
});

test("INVALID_REQUEST: post-only with ioc is refused before the delay", async (t) => {
  const { market } = await makeLiveMarket();
  const request = buy("yes", 1, 10, { ...postOnly, ...ioc });
  t.is(await refusal(market, await makeTrader(), request), "INVALID_REQUEST");
});

test("a scheduled order is cancelled at once, and the version stays", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const { order: placed } = await place(market, ann, buy("yes", 10, 45));
  const { code, answer } = await cancel(ann, placed.id);
  t.is(code, null);
  t.like(answer!.order, { status: "cancelled", cancelReason: "user_cancelled" });
  t.is(await version(market), 0);
  await clock.advance(0);
  t.is(await exchange.release(market), 0);
});

test("GET /orders shows scheduled orders under open, scheduled and all", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const { order: placed } = await place(market, ann, spend("yes", 700));
  for (const status of ["open", "scheduled", "all"]) {
    const { data } = await orders(ann, { status });
    t.is(data.length, 1, status);
    t.like(data[0], { id: placed.id, status: "scheduled", budgetCents: 700, releaseInMs: 3000 });
  }
});
