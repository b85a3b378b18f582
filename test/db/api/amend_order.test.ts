import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Amendment } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, postOnly, sell, shown, spend } from "../../helpers/exchange/orders.ts";

/** PATCH /orders/:id: in place where only the quantity shrinks, else a replacement. */

const exchange = testExchange(test);
const {
  amend,
  balance,
  book,
  cancel,
  clock,
  giveShares,
  makeLiveMarket,
  makeMarket,
  makeMarketWith,
} = exchange;
const { makeTrader, operate, order, place, rest, version } = exchange;

const nothing = "01900000-0000-7000-8000-000000000000";

async function makeResting() {
  const [market, ann, bob] = await makeMarketWith(2);
  const [id] = await rest(market, ann, buy("yes", 10, 40));
  return { market, ann, bob, id };
}

/** Everything but what sequences and the operator's calls leave. */
async function untouched(work: () => Promise<unknown>) {
  const before = await exchange.dump();
  await work();
  return { before, after: await exchange.dump() };
}

test("a smaller quantity keeps the order in its place", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  const [behind] = await rest(market, bob, buy("yes", 5, 40));
  const { code, answer } = await amend(ann, id, { quantity: 4 });
  t.is(code, null);
  t.deepEqual(Object.keys(answer!).sort(), ["amended", "order", "queuePositionChanged"]);
  t.like(answer, { amended: true, queuePositionChanged: false });
  t.like(answer!.order, { id, price: 40, quantity: 4, filledQuantity: 0, status: "open" });
  t.deepEqual(await book(market), { bids: ["9 @ 40"], asks: [] });
  t.is((await order(bob, behind)).sharesAhead, 4);
  t.is(await version(market), 3);
});

test("AGAIN: the new order could meet more makers; the body is its market, nothing is changed", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await rest(market, bob, buy("no", 1, 50), buy("no", 1, 50));
  const amendUpTo = async (most: number) => {
    const rows = await exchange.query(
      `select r.code, r.body
       from api.run_command('amend', $1, order_id => $2, price => 50, most_makers => $3) as r`,
      [ann, id, most],
    );
    return rows[0];
  };
  t.deepEqual(await amendUpTo(1), { code: "AGAIN", body: market });
  t.deepEqual(await book(market), { bids: ["10 @ 40"], asks: ["2 @ 50"] });
  t.like(await order(ann, id), { status: "open", price: 40, quantity: 10 });
  t.is((await amendUpTo(2)).code, null);
  t.deepEqual(await book(market), { bids: ["8 @ 50"], asks: [] });
});

test("the same price given beside a smaller quantity is no change of price", async (t) => {
  const { ann, id } = await makeResting();
  const { answer } = await amend(ann, id, { price: 40, quantity: 9 });
  t.like(answer, { amended: true, queuePositionChanged: false });
});

test("an amendment to the same values: amended is false, and nothing is written", async (t) => {
  const { ann, id } = await makeResting();
  for (const amendment of [{ price: 40 }, { quantity: 10 }, { price: 40, quantity: 10 }]) {
    const { answer } = await amend(ann, id, amendment);
    t.deepEqual(answer, {
      order: answer!.order,
      amended: false,
      queuePositionChanged: false,
    });
    t.like(answer!.order, { id, status: "open", quantity: 10 });
  }
});

test("a new price replaces the order: user_amended, at the end of its new queue", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await rest(market, bob, buy("yes", 5, 42));
  const { answer } = await amend(ann, id, { price: 42 });
  const replaced = answer as Extract<typeof answer, { cancelledOrderId: string }>;
  t.like(replaced, {
    amended: true,
    queuePositionChanged: true,
    cancelledOrderId: id,
    feeCents: 0,
    fills: [],
  });
  t.not(replaced.order.id, id);
  t.like(replaced.order, { price: 42, quantity: 10, status: "open" });
  t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_amended" });
  t.is((await order(ann, replaced.order.id)).sharesAhead, 5);
  t.deepEqual(await book(market), { bids: ["15 @ 42"], asks: [] });
  t.is(await version(market), 3, "a replacement is one change");
});

test("a greater quantity at the same price loses the place", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await rest(market, bob, buy("yes", 5, 40));
  const { answer } = await amend(ann, id, { quantity: 11 });
  t.is((await order(ann, answer!.order.id)).sharesAhead, 5);
  t.deepEqual(await book(market), { bids: ["16 @ 40"], asks: [] });
});

test("a replacement is matched at once and pays its fee", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await rest(market, bob, buy("no", 4, 50));
  const { answer } = await amend(ann, id, { price: 55 });
  const replaced = answer as Extract<typeof answer, { cancelledOrderId: string }>;
  t.deepEqual(shown(replaced.fills), ["4 @ 50"]);
  t.like(replaced.order, { price: 55, filledQuantity: 4, status: "partially_filled" });
  t.is(replaced.feeCents, 7);
  t.is(await balance(ann), 100_000 - 200 - 7);
  t.deepEqual(await book(market), { bids: ["6 @ 55"], asks: [] });
});

test("a replacement does not order again what is filled already", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await place(market, bob, buy("no", 4, 60));
  const { answer } = await amend(ann, id, { quantity: 12 });
  t.like(answer!.order, { quantity: 8, filledQuantity: 0, status: "open" });
  t.like(await order(ann, id), { quantity: 10, filledQuantity: 4, status: "cancelled" });
  t.deepEqual(await book(market), { bids: ["8 @ 40"], asks: [] });
});

test("expiry and post-only go over to the replacement", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const expiresAt = "2126-01-01T00:00:00.000Z";
  const [id] = await rest(market, ann, buy("yes", 10, 40, { ...postOnly, expiresAt }));
  const { answer } = await amend(ann, id, { price: 41 });
  t.is(answer!.order.expiresAt, expiresAt);
  await rest(market, bob, buy("no", 1, 50));
  t.is((await amend(ann, answer!.order.id, { price: 50 })).code, "POST_ONLY_WOULD_CROSS");
});

test("a sell keeps its form", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await giveShares(market, ann, "no", 10);
  const [id] = await rest(market, ann, sell("no", 10, 70));
  const { answer } = await amend(ann, id, { price: 65 });
  t.like(answer!.order, { side: "no", orderType: "sell", price: 65 });
  t.deepEqual(await book(market), { bids: ["10 @ 35"], asks: [] });
  t.is((await amend(ann, answer!.order.id, { quantity: 11 })).code, "INSUFFICIENT_BALANCE");
});

const amendments: [title: string, amendment: Amendment][] = [
  ["a new price", { price: 41 }],
  ["a greater quantity", { quantity: 11 }],
  ["a smaller quantity", { quantity: 9 }],
];

for (const [title, amendment] of amendments) {
  test(`ORDER_NOT_FOUND: ${title} for no order, or another's`, async (t) => {
    const { ann, bob, id } = await makeResting();
    t.is((await amend(ann, nothing, amendment)).code, "ORDER_NOT_FOUND");
    t.is((await amend(bob, id, amendment)).code, "ORDER_NOT_FOUND");
    t.is((await amend(nothing, id, amendment)).code, "UNAUTHORIZED");
  });

  test(`ORDER_NOT_AMENDABLE: ${title} for a cancelled order`, async (t) => {
    const { ann, id } = await makeResting();
    await cancel(ann, id);
    const { code, message } = await amend(ann, id, amendment);
    t.is(code, "ORDER_NOT_AMENDABLE");
    t.is(message, "Cannot amend order with status: cancelled");
  });

  test(`MARKET_NOT_OPEN: ${title} in a paused market`, async (t) => {
    const { market, ann, id } = await makeResting();
    await operate("set_market_status", { market_id: market, status: "paused" });
    t.is((await amend(ann, id, amendment)).code, "MARKET_NOT_OPEN");
    t.is((await amend(ann, id, { price: 40 })).code, null, "no change is none in a pause too");
  });

  test(`LIMITS_SETUP_REQUIRED and SELF_EXCLUDED come before everything: ${title}`, async (t) => {
    const { ann, id } = await makeResting();
    await exchange.query(
      `update trading.traders set limits_reviewed_at = null
       where user_id = (select id from identity.users where public_id = $1)`,
      [ann],
    );
    t.is((await amend(ann, id, amendment)).code, "LIMITS_SETUP_REQUIRED");
    t.is((await amend(ann, nothing, amendment)).code, "LIMITS_SETUP_REQUIRED");
    await operate("self_exclude", { user_id: ann });
    t.is((await amend(ann, id, amendment)).code, "SELF_EXCLUDED");
    await exchange.query(
      `update trading.traders as t
       set limits_reviewed_at = (select min(c.created_at) from risk.limit_changes as c where c.user_id = t.user_id)
       where t.user_id = (select id from identity.users where public_id = $1)`,
      [ann],
    );
  });
}

test("ORDER_NOT_AMENDABLE: a filled order", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await place(market, bob, buy("no", 10, 60));
  const { code, message } = await amend(ann, id, { quantity: 20 });
  t.is(code, "ORDER_NOT_AMENDABLE");
  t.is(message, "Cannot amend order with status: filled");
});

test("BELOW_FILLED: the new quantity must exceed what is filled", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  await place(market, bob, buy("no", 4, 60));
  t.is((await amend(ann, id, { quantity: 4 })).code, "BELOW_FILLED");
  t.is((await amend(ann, id, { quantity: 3, price: 41 })).code, "BELOW_FILLED");
  const { answer } = await amend(ann, id, { quantity: 5 });
  t.like(answer!.order, { id, quantity: 5, filledQuantity: 4, status: "partially_filled" });
});

for (const amendment of [{}, { price: 0 }, { price: 100 }, { quantity: 0 }, { quantity: 10_001 }]) {
  test(`INVALID_REQUEST: ${JSON.stringify(amendment)}`, async (t) => {
    const { ann, id } = await makeResting();
    t.is((await amend(ann, id, amendment)).code, "INVALID_REQUEST");
  });
}

test.serial(
  "a refused replacement changes nothing, and the old order stays where it was",
  async (t) => {
    const [market, ann] = await makeMarketWith(1, { cents: 600, limits: [500, null, null] });
    const bob = await makeTrader();
    const [id] = await rest(market, ann, buy("yes", 10, 40));
    await rest(market, bob, buy("no", 1, 30));
    await rest(market, ann, buy("no", 1, 20));
    const refused: [Amendment, string][] = [
      [{ price: 80 }, "SELF_TRADE_BLOCKED"],
      [{ price: 65 }, "INSUFFICIENT_BALANCE"],
      [{ quantity: 16 }, "INSUFFICIENT_BALANCE"],
      [{ quantity: 15 }, "LOSS_LIMIT"],
    ];
    const { before, after } = await untouched(async () => {
      for (const [amendment, code] of refused) {
        t.is((await amend(ann, id, amendment)).code, code, JSON.stringify(amendment));
      }
    });
    t.deepEqual(after, before);
  },
);

test("the replaced order is left out of the sums", async (t) => {
  const [market, ann] = await makeMarketWith(1, { limits: [500, null, null] });
  const [id] = await rest(market, ann, buy("yes", 10, 40));
  const { code, answer } = await amend(ann, id, { price: 50 });
  t.is(code, null);
  t.is((await amend(ann, answer!.order.id, { quantity: 11 })).code, "LOSS_LIMIT");
});

test("a taker's fee counts toward balance and limit of a replacement", async (t) => {
  const market = await makeMarket();
  const [poor, limited] = [
    await makeTrader({ cents: 517 }),
    await makeTrader({ limits: [517, null, null] }),
  ];
  const bob = await makeTrader();
  const [first] = await rest(market, poor, buy("yes", 10, 40));
  const [second] = await rest(market, limited, buy("yes", 10, 40));
  await rest(market, bob, buy("no", 10, 50));
  t.is((await amend(poor, first, { price: 50 })).code, "INSUFFICIENT_BALANCE"); // 500 and 17.5
  t.is((await amend(limited, second, { price: 50 })).code, "LOSS_LIMIT");
  await operate("deposit", { user_id: poor, amount_cents: 1, reference: "one more" });
  t.is((await amend(poor, first, { price: 50 })).code, null);
  t.is(await balance(poor), 0);
});

test("a maker hears of a fill by a replacement, but not of one that is rolled back", async (t) => {
  const { market, ann, bob, id } = await makeResting();
  const [maker] = await rest(market, bob, buy("no", 4, 50));
  const listener = await exchange.listen();
  await listener.heard();
  await amend(ann, id, { price: 55 });
  const { users, markets } = await listener.heard();
  t.deepEqual(
    users.filter(({ userId }) => userId === bob).map(({ event }) => event),
    [{ type: "maker_fill", marketId: market, orderIds: [maker], fillCount: 1 }],
  );
  t.deepEqual(
    users.filter(({ userId }) => userId === ann),
    [],
    "who amends is told by the answer",
  );
  t.is(markets.filter(({ marketId }) => marketId === market).length, 1);
});

test.serial("TRADING_PAUSED comes before everything", async (t) => {
  const { ann, id } = await makeResting();
  await operate("self_exclude", { user_id: ann });
  await operate("set_trading_pause", { paused: true });
  t.is((await amend(ann, id, { price: 41 })).code, "TRADING_PAUSED");
  t.is((await amend(ann, nothing, { price: 41 })).code, "TRADING_PAUSED");
  await operate("set_trading_pause", { paused: false });
});

test.serial("an order past its expiry expires instead, and its user is told", async (t) => {
  await clock.freeze("2026-03-01T12:00:00Z");
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("yes", 10, 40, { expiresAt: "2026-03-01T12:00:01Z" }));
  const listener = await exchange.listen();
  await listener.heard();
  await clock.advance(1000);
  const { code, message } = await amend(ann, id, { quantity: 5 });
  t.is(code, "ORDER_NOT_AMENDABLE");
  t.is(message, "Cannot amend order with status: cancelled");
  t.like(await order(ann, id), { status: "cancelled", cancelReason: "expired", quantity: 10 });
  const { users } = await listener.heard();
  t.like(users[0]?.event, { type: "order_cancelled", orderId: id, cancelReason: "expired" });
});

test.serial("on a live market a replacement waits, in place amendments don't", async (t) => {
  await clock.freeze("2026-03-01T12:00:00Z");
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const { order: placed } = await place(market, ann, buy("yes", 10, 40));
  await clock.advance(3000);
  await exchange.release(market);
  t.like((await amend(ann, placed.id, { quantity: 8 })).answer, {
    amended: true,
    queuePositionChanged: false,
  });
  const listener = await exchange.listen();
  await listener.heard();
  const before = await version(market);
  const { answer } = await amend(ann, placed.id, { price: 45 });
  const replaced = answer as Extract<typeof answer, { cancelledOrderId: string }>;
  t.like(replaced, { feeCents: 0, fills: [], cancelledOrderId: placed.id });
  t.like(replaced.order, {
    status: "scheduled",
    price: 45,
    quantity: 8,
    releaseInMs: 3000,
    budgetCents: null,
  });
  t.deepEqual(await book(market), { bids: [], asks: [] });
  t.is(await version(market), before + 1);
  const { users } = await listener.heard();
  t.like(users[0]?.event, { type: "order_pending", orderId: replaced.order.id, quantity: 8 });
});

test.serial("a scheduled order is replaced by any change, with a fresh delay", async (t) => {
  await clock.freeze("2026-03-01T12:00:00Z");
  const { market, event } = await makeLiveMarket();
  const ann = await makeTrader({ limits: [1000, null, null] });
  const { order: placed } = await place(market, ann, buy("yes", 10, 90)); // at most 907
  await clock.advance(2000);
  t.is((await amend(ann, placed.id, { quantity: 12 })).code, "LOSS_LIMIT"); // at most 1088
  const { answer } = await amend(ann, placed.id, { quantity: 9 });
  t.like(answer, { queuePositionChanged: true, cancelledOrderId: placed.id });
  t.like(answer!.order, {
    status: "scheduled",
    quantity: 9,
    releaseInMs: 3000,
    releaseAt: "2026-03-01T12:00:05.000Z",
  });
  t.is(await version(market), 0, "the book has not changed");
  await operate("set_event_live", { event_id: event, live: false });
  const matched = await amend(ann, answer!.order.id, { price: 50 });
  t.is(matched.answer!.order.status, "open", "no longer live: matched at once");
  t.deepEqual(await book(market), { bids: ["9 @ 50"], asks: [] });
});

test.serial("BUDGET_ORDER_NOT_AMENDABLE: a scheduled budget buy", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const { order: placed } = await place(market, ann, spend("yes", 500));
  t.is((await amend(ann, placed.id, { price: 50 })).code, "BUDGET_ORDER_NOT_AMENDABLE");
  t.is((await amend(ann, placed.id, { quantity: 5 })).code, "BUDGET_ORDER_NOT_AMENDABLE");
});

test.serial(
  "INSUFFICIENT_LIQUIDITY: a scheduled ioc order replaced when nothing is there",
  async (t) => {
    const { market, event } = await makeLiveMarket();
    const ann = await makeTrader();
    const { order: placed } = await place(market, ann, buy("yes", 10, 40, ioc));
    await operate("set_event_live", { event_id: event, live: false });
    t.is((await amend(ann, placed.id, { price: 41 })).code, "INSUFFICIENT_LIQUIDITY");
    t.is((await order(ann, placed.id)).status, "scheduled");
  },
);

test.serial(
  "a scheduled market buy stays one: only its quantity changes, no funds are needed",
  async (t) => {
    const { market } = await makeLiveMarket();
    const ann = await makeTrader({ cents: 100 });
    const { order: placed } = await place(market, ann, buy("yes", 10));
    const { answer } = await amend(ann, placed.id, { quantity: 20 });
    t.like(answer!.order, { price: 99, quantity: 20, status: "scheduled" });
    t.is(
      (await amend(ann, answer!.order.id, { price: 99, quantity: 21 })).code,
      "INSUFFICIENT_BALANCE",
    );
  },
);

test("the idempotency key of a replaced order still names it", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const request = buy("yes", 10, 40, { idempotencyKey: randomUUID() });
  const { order: placed } = await place(market, ann, request);
  await amend(ann, placed.id, { price: 41 });
  const [replay] = await exchange.placeBatch(market, [[ann, request]]);
  t.true(replay!.replayed);
  t.like(replay!.answer!.order, { id: placed.id, cancelReason: "user_amended" });
});
