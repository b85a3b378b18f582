import test from "ava";
import pg from "pg";
import { leaveCash, makeCrowd } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, ordersIn, postOnly, sell, shown, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** What long queues may cost: work is bounded by the call, and reading by what a taker can pay. */

const exchange = testExchange(test, { sessions: 20 });
const {
  balance,
  book,
  clock,
  makeMarket,
  makeMarketWith,
  makeTrader,
  makeTraders,
  operate,
  place,
} = exchange;

/** Makers that one call cancels at most. */
const MOST_CANCELLED = 500;

const withdraw = (trader: string, leave: number) => leaveCash(exchange, trader, leave);

/**
 * How many of these traders nobody has locked. By a session of its own: each test holds one of the
 * pool meanwhile, and might wait for another one that others hold.
 */
async function countFree(traders: string[]): Promise<number | null> {
  const client = new pg.Client({ connectionString: exchange.database.connectionString });
  await client.connect();
  const { rowCount } = await client.query(
    "select from trading.traders as t where t.public_id = any ($1) for update skip locked",
    [traders],
  );
  await client.end();
  return rowCount;
}

/** So many one-share orders of one trader, in the order of the list. */
async function queue(market: string, trader: string, request: Request, length: number) {
  for (let left = length; left > 0; left -= 200) {
    const batch = Array.from({ length: Math.min(left, 200) }, (): [string, Request] => [
      trader,
      request,
    ]);
    for (const { code } of await exchange.placeBatch(market, batch)) {
      if (code !== null) throw new Error(`rejected: ${code}`);
    }
  }
}

/** So many makers, with an order of one share each. */
async function restCrowd(market: string, count: number, cents?: number): Promise<string[]> {
  const makers = await makeCrowd(exchange, count, cents);
  const orders = makers.map((maker): [string, Request] => [maker, buy("no", 1, 45)]);
  const outcomes = await exchange.placeBatch(market, orders);
  if (outcomes.some(({ code }) => code !== null)) throw new Error("an order was rejected");
  return makers;
}

const openOrdersOf = async (trader: string): Promise<number> => {
  const { rows } = await exchange.database.pool.query(
    `select count(*)::int as count
     from trading.active_orders as b join identity.users as u on u.id = b.user_id
     where u.public_id = $1`,
    [trader],
  );
  return rows[0].count;
};

/** A queue of a maker without cash, one order of a live maker in its middle and one behind it. */
async function makeClearing() {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  await queue(market, ann, buy("no", 1, 40), 300);
  await exchange.rest(market, bob, buy("no", 3, 40));
  await queue(market, ann, buy("no", 1, 40), 350);
  await exchange.rest(market, bob, buy("no", 4, 39));
  await withdraw(ann, 39);
  return { market, ann, bob, taker };
}

test("CONFLICT_RETRY: one call cancels 500 makers without cash, and the next goes on", async (t) => {
  const { market, ann, bob, taker } = await makeClearing();
  const before = await balance(taker);
  const [outcome] = await exchange.placeBatch(market, [[taker, buy("yes", 6, 61)]]);
  t.is(outcome!.code, "CONFLICT_RETRY");
  t.is(await openOrdersOf(ann), 650 - MOST_CANCELLED);
  t.is(await balance(taker), before);
  t.deepEqual((await exchange.orders(taker, { status: "all" })).data, []);
  // The live maker between them keeps its place: 150 shares of the cancelled queue are left.
  t.deepEqual((await book(market)).asks, ["153 @ 60", "4 @ 61"]);
  t.deepEqual(await exchange.verify(), []);

  const answer = await place(market, taker, buy("yes", 6, 61));
  t.deepEqual(shown(answer.fills), ["3 @ 60", "3 @ 61"]);
  t.is(answer.cancelledOrders.length, 150);
  t.is(await openOrdersOf(ann), 0);
  t.is(await openOrdersOf(bob), 1);
  t.deepEqual((await book(market)).asks, ["1 @ 61"]);
});

test("CONFLICT_RETRY: what stands behind it in its market, or of its trader, waits for it", async (t) => {
  const { market, ann, taker } = await makeClearing();
  const [elsewhere, third] = [await makeMarket(), await makeMarket()];
  const [other, another] = await makeTraders(2);
  const requests = [
    [market, other, buy("yes", 2, 30)],
    [market, taker, buy("yes", 6, 61)],
    [market, other, buy("yes", 1, 31)],
    [elsewhere, taker, buy("yes", 1, 20)], // its trader waits
    [third, other, buy("yes", 1, 20)], // so does this one, for the one before the last
    [elsewhere, another, buy("yes", 1, 21)], // and so does that market
    [third, ann, sell("yes", 1, 21)],
  ] as const;
  const placeAll = async () => {
    const { rows } = await exchange.database.pool.query("select code from api.place_orders($1)", [
      JSON.stringify(
        requests.flatMap(([of, userId, request]) =>
          JSON.parse(ordersIn(of, [{ userId, ...request }])),
        ),
      ),
    ]);
    return rows.map(({ code }) => code as string | null);
  };
  const waits = "CONFLICT_RETRY";
  t.deepEqual(await placeAll(), [null, waits, waits, waits, waits, waits, waits]);
  t.is(await openOrdersOf(ann), 150);
  t.deepEqual((await book(market)).bids, ["2 @ 30"]);
  t.deepEqual(await placeAll(), [null, null, null, null, null, null, "INSUFFICIENT_BALANCE"]);
  t.deepEqual((await book(market)).bids, ["1 @ 31", "4 @ 30"]);
});

test("CONFLICT_RETRY: of two orders on the same cash, the later one does not overtake", async (t) => {
  const { market, taker } = await makeClearing();
  await withdraw(taker, 400);
  const placeBoth = () =>
    exchange.placeBatch(market, [
      [taker, buy("yes", 6, 61, ioc)],
      [taker, buy("yes", 100, 2)],
    ]);
  const codes = async () => (await placeBoth()).map(({ code }) => code);
  t.deepEqual(await codes(), ["CONFLICT_RETRY", "CONFLICT_RETRY"]);
  t.deepEqual(await codes(), [null, "INSUFFICIENT_BALANCE"]);
});

test("CONFLICT_RETRY: the idempotency key stays free", async (t) => {
  const { market, taker } = await makeClearing();
  const request = buy("yes", 6, 61, { idempotencyKey: crypto.randomUUID() });
  const [first] = await exchange.placeBatch(market, [[taker, request]]);
  t.is(first!.code, "CONFLICT_RETRY");
  const [second] = await exchange.placeBatch(market, [[taker, request]]);
  t.like(second, { code: null, replayed: false });
  const [third] = await exchange.placeBatch(market, [[taker, request]]);
  t.like(third, { code: null, replayed: true });
  t.is(third!.answer!.order.id, second!.answer!.order.id);
});

test("CONFLICT_RETRY: an amendment leaves its order as it is, and succeeds when repeated", async (t) => {
  const { market, ann, taker } = await makeClearing();
  const [resting] = await exchange.rest(market, taker, buy("yes", 6, 30));
  t.is((await exchange.amend(taker, resting, { price: 61 })).code, "CONFLICT_RETRY");
  t.is(await openOrdersOf(ann), 150);
  t.like(await exchange.order(taker, resting), { status: "open", price: 30, quantity: 6 });
  const { answer } = await exchange.amend(taker, resting, { price: 61 });
  t.is(answer!.order.filledQuantity, 6);
  t.is(await openOrdersOf(ann), 0);
});

test.serial(
  "CONFLICT_RETRY: a release that is not finished stays due, and is announced once",
  async (t) => {
    await clock.freeze("2035-05-05T12:00:00Z");
    const { market, event } = await exchange.makeLiveMarket();
    const [ann, taker] = await makeTraders(2);
    await operate("set_event_live", { event_id: event, live: false });
    await queue(market, ann, buy("no", 1, 40), 650);
    await withdraw(ann, 39);
    await operate("set_event_live", { event_id: event, live: true });
    const { order } = await place(market, taker, buy("yes", 6, 60));
    await clock.advance(3000);

    const listener = await exchange.listen();
    const { rows } = await exchange.database.pool.query(
      `select trading.release_orders(array[m.id], 10) as count
     from catalog.markets as m where m.public_id = $1`,
      [market],
    );
    t.is(rows[0].count, 1);
    t.like(await exchange.order(taker, order.id), { status: "scheduled" });
    t.is(await openOrdersOf(ann), 150);
    await exchange.release(market);
    t.like(await exchange.order(taker, order.id), { status: "open", filledQuantity: 0 });
    const { users } = await listener.heard();
    t.is(users.filter(({ event: told }) => told.type === "order_released").length, 1);
    t.is(users.filter(({ event: told }) => told.type === "order_cancelled").length, 650);
  },
);

test.serial("CONFLICT_RETRY: a release does not overtake one that is not finished", async (t) => {
  await clock.freeze("2035-05-06T12:00:00Z");
  const { market, event } = await exchange.makeLiveMarket();
  const [ann, first, second] = await makeTraders(3);
  await operate("set_event_live", { event_id: event, live: false });
  await queue(market, ann, buy("no", 1, 50), 650);
  await withdraw(ann, 49);
  await operate("set_event_live", { event_id: event, live: true });
  const cash = await balance(first);
  await place(market, first, buy("yes", 10, 60));
  await clock.advance(1);
  await place(market, second, buy("no", 10, 45));
  await clock.advance(3000);
  await exchange.release(market);
  await exchange.release(market);
  // The earlier one rests at 60. The later one takes it, and pays the fee: 16.8 cents, rounded up.
  const paid = async (trader: string) => cash - (await balance(trader));
  t.deepEqual([await paid(first), await paid(second)], [600, 400 + 17]);
});

test("CONFLICT_RETRY: makers that only its fills would have left without cash stay", async (t) => {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  // Bob can pay for any one of his ten orders, and for no two.
  for (let i = 0; i < 10; i++) await exchange.rest(market, bob, buy("no", 10, 60));
  await withdraw(bob, 1000);
  await queue(market, ann, buy("no", 1, 59), 600);
  await withdraw(ann, 0);
  const [first] = await exchange.placeBatch(market, [[taker, buy("yes", 1000, 41, ioc)]]);
  t.is(first!.code, "CONFLICT_RETRY");
  t.is(await openOrdersOf(ann), 600 - MOST_CANCELLED);
  t.is(await openOrdersOf(bob), 10);
});

for (const [what, request] of [
  ["a buy without cash", buy("yes", 100, 60)],
  ["a sell without shares", sell("no", 100, 40)],
] as const) {
  test(`INSUFFICIENT_BALANCE: ${what} cancels no makers without cash, however many`, async (t) => {
    const { market, ann, taker } = await makeClearing();
    await withdraw(taker, 1);
    t.is(await exchange.refusal(market, taker, request), "INSUFFICIENT_BALANCE");
    t.is(await openOrdersOf(ann), 650);
  });
}

test("CONFLICT_RETRY: the requests of a call together cancel no more", async (t) => {
  const { market, ann, taker } = await makeStarving();
  const [other, cat, dan] = await makeMarketWith(2);
  await exchange.rest(market, cat, buy("no", 1, 61));
  await queue(other, dan, buy("no", 1, 60), 600);
  await withdraw(cat, 0);
  await withdraw(dan, 0);
  const { rows } = await exchange.database.pool.query("select code from api.place_orders($1)", [
    JSON.stringify([
      { marketId: market, userId: taker, ...buy("yes", 6, 41) },
      { marketId: other, userId: taker, ...buy("yes", 1, 41) },
    ]),
  ]);
  t.deepEqual(
    rows.map(({ code }) => code),
    [null, "CONFLICT_RETRY"],
  );
  t.is(await openOrdersOf(ann), 650 - 1 - MOST_CANCELLED);
  t.is(await openOrdersOf(dan), 600);
});

test("CONFLICT_RETRY: the requests of a call together cancel so many own orders", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  for (let block = 0; block < 4; block++) {
    await queue(market, ann, buy("no", 1, 60), 199);
    await exchange.rest(market, bob, buy("no", 1, 60));
  }
  const request = buy("yes", 1, 40, { selfTrade: "cancel_resting" });
  const codes = (
    await exchange.placeBatch(
      market,
      Array.from({ length: 4 }, () => [ann, request]),
    )
  ).map(({ code }) => code);
  t.deepEqual(codes, [null, null, "CONFLICT_RETRY", "CONFLICT_RETRY"]);
  t.is(await openOrdersOf(ann), 2 * 199);
});

async function placeAtomic(market: string, requests: Parameters<typeof ordersIn>[1]) {
  const { rows } = await exchange.database.pool.query(
    "select code, body from api.place_orders($1, atomic => true)",
    [ordersIn(market, requests)],
  );
  return rows as { code: string | null; body: string | null }[];
}

/** A maker with cash for one of 650 orders, and a live maker behind them. */
async function makeStarving() {
  const [market, ann, bob, taker] = await makeMarketWith(3);
  await queue(market, ann, buy("no", 1, 60), 650);
  await exchange.rest(market, bob, buy("no", 5, 59));
  await withdraw(ann, 119);
  return { market, ann, taker };
}

for (const [name, request] of [
  ["a limit order", buy("yes", 6, 41)],
  ["a market order", buy("yes", 6)],
  ["a budget", spend("yes", 300)],
] as const) {
  test(`${name} ends at 500 makers that its own fills leave without cash`, async (t) => {
    const { market, ann, taker } = await makeStarving();
    const { order, fills, cancelledOrders } = await place(market, taker, request);
    t.like(order, { status: "cancelled", cancelReason: "insufficient_liquidity" });
    t.deepEqual(shown(fills), ["1 @ 40"]);
    t.is(cancelledOrders.length, MOST_CANCELLED);
    t.is(await openOrdersOf(ann), 650 - 1 - MOST_CANCELLED);
    t.is(await balance(ann), 119 - 60);
    t.deepEqual((await book(market)).bids, []);
    t.deepEqual(await exchange.verify(), []);
    // The others are without cash before the next order comes.
    const next = await place(market, taker, buy("yes", 5, 41));
    t.deepEqual(shown(next.fills), ["5 @ 41"]);
    t.is(next.cancelledOrders.length, 149);
    t.deepEqual(await exchange.verify(), []);
  });
}

for (const [code, name, request] of [
  ["INSUFFICIENT_LIQUIDITY", "that is filled or killed", buy("yes", 6, 41, { timeInForce: "fok" })],
  ["INSUFFICIENT_BALANCE", "that its cash does not cover", buy("yes", 10_000, 41)],
  ["POST_ONLY_WOULD_CROSS", "that may not take", buy("yes", 6, 41, postOnly)],
] as const) {
  test(`${code}: an order ${name} is rejected at once, and costs no maker an order`, async (t) => {
    const { market, ann, taker } = await makeStarving();
    t.is(await exchange.refusal(market, taker, request), code);
    t.is(await openOrdersOf(ann), 650);
  });
}

test("an own order behind 500 makers without cash is not reached", async (t) => {
  const { market, ann, taker } = await makeStarving();
  await exchange.rest(market, taker, buy("no", 5, 58));
  const { fills } = await place(market, taker, buy("yes", 20, 42));
  t.deepEqual(shown(fills), ["1 @ 40"]);
  t.is(await openOrdersOf(ann), 650 - 1 - MOST_CANCELLED);
  t.is(await openOrdersOf(taker), 1);
});

test.serial("a release ends at 500 makers that its own fills leave without cash", async (t) => {
  await clock.freeze("2035-05-07T12:00:00Z");
  const { market, event } = await exchange.makeLiveMarket();
  const [ann, taker, killer, last] = await makeTraders(4);
  await operate("set_event_live", { event_id: event, live: false });
  await queue(market, ann, buy("no", 1, 60), 650);
  await withdraw(ann, 119);
  await operate("set_event_live", { event_id: event, live: true });
  const killed = await place(market, killer, buy("yes", 2, 41, { timeInForce: "fok" }));
  const taken = await place(market, taker, buy("yes", 6, 41));
  const behind = await place(market, last, buy("yes", 1, 30));
  await clock.advance(3000);
  await exchange.release(market);
  await exchange.release(market);
  t.like(await exchange.order(killer, killed.order.id), {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    filledQuantity: 0,
  });
  t.like(await exchange.order(taker, taken.order.id), {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    filledQuantity: 1,
  });
  t.like(await exchange.order(last, behind.order.id), { status: "open" });
  t.deepEqual(await exchange.verify(), []);
});

test("CONFLICT_RETRY: an atomic batch cancels makers without cash, and succeeds when repeated", async (t) => {
  const { market, ann, bob, taker } = await makeClearing();
  const other = await makeTrader();
  const placeAll = async () =>
    placeAtomic(market, [
      { userId: other, ...buy("yes", 2, 30) },
      { userId: taker, ...buy("yes", 6, 61) },
    ]);
  t.deepEqual(await placeAll(), [
    { code: "CONFLICT_RETRY", body: null },
    { code: "CONFLICT_RETRY", body: null },
  ]);
  t.is(await openOrdersOf(ann), 650 - MOST_CANCELLED);
  t.is(await openOrdersOf(other), 0);
  t.deepEqual(
    (await placeAll()).map(({ code }) => code),
    [null, null],
  );
  t.is(await openOrdersOf(ann), 0);
  t.is(await openOrdersOf(bob), 1);
});

test("an atomic batch that another order rejects cancels no maker without cash", async (t) => {
  const { market, ann, taker } = await makeClearing();
  const answers = await placeAtomic(market, [
    { userId: taker, ...sell("no", 1, 90) },
    { userId: taker, ...buy("yes", 6, 61) },
  ]);
  t.deepEqual(answers, [
    { code: "INSUFFICIENT_BALANCE", body: null },
    { code: null, body: null },
  ]);
  t.is(await openOrdersOf(ann), 650);
});

test("an atomic batch that is rejected costs no maker an order", async (t) => {
  const { market, ann, taker } = await makeStarving();
  const answers = await placeAtomic(market, [
    { userId: taker, ...buy("yes", 6, 41) },
    { userId: taker, ...buy("yes", 2, 41) },
    { userId: taker, ...sell("no", 1, 90) },
  ]);
  t.deepEqual(answers, [
    { code: null, body: null },
    { code: null, body: null },
    { code: "INSUFFICIENT_BALANCE", body: null },
  ]);
  t.is(await openOrdersOf(ann), 650);
});

test("a preview looks behind any number of makers without cash, and cancels none", async (t) => {
  const { market, ann, taker } = await makeClearing();
  const { rows } = await exchange.database.pool.query(
    'select * from api.preview_order("order" => $1)',
    [JSON.stringify({ marketId: market, userId: taker, ...buy("yes", 6, 61) })],
  );
  t.is(rows[0].code, null);
  t.like(JSON.parse(rows[0].body), {
    status: "filled",
    fills: [
      { price: 60, quantity: 3 },
      { price: 61, quantity: 3 },
    ],
  });
  t.is(await openOrdersOf(ann), 650);
});

/** Whether a rejected order at a long queue of many makers left the makers behind alone. */
const rejectedEarly: [what: string, code: string, request: Request, cents: number][] = [
  ["a limit order", "INSUFFICIENT_BALANCE", buy("yes", 10_000, 99), 1],
  ["an ioc order", "INSUFFICIENT_BALANCE", buy("yes", 10_000, 99, ioc), 500],
  ["a market order", "INSUFFICIENT_BALANCE", buy("yes", 10_000), 500],
  ["a budget", "INSUFFICIENT_BALANCE", spend("yes", 1_000_000), 500],
  ["a sell without shares", "INSUFFICIENT_BALANCE", sell("no", 10_000, 1), 500],
  ["a post-only order", "POST_ONLY_WOULD_CROSS", buy("yes", 10_000, 98, postOnly), 2_000_000],
];

for (const [what, code, request, cents] of rejectedEarly) {
  test(`${code}: ${what} reads and locks no more of the queue than decides it`, async (t) => {
    const market = await makeMarket();
    const makers = await restCrowd(market, 40);
    const taker = await makeTrader({ cents });
    await exchange.withRollback(async (client) => {
      const { rows } = await client.query("select code from api.place_orders(orders => $1)", [
        ordersIn(market, [{ userId: taker, ...request }]),
      ]);
      t.is(rows[0].code, code);
      // The transaction is open: another session can see which users it has locked.
      t.is(await countFree(makers.slice(20)), 20);
    });
  });
}

test("SELF_TRADE_BLOCKED comes before INSUFFICIENT_BALANCE, however far away the own order is", async (t) => {
  const [market, maker, taker] = await makeMarketWith(2);
  await queue(market, maker, buy("no", 1, 45), 250);
  await exchange.rest(market, taker, buy("no", 1, 40));
  await withdraw(taker, 1);
  t.is(await exchange.refusal(market, taker, buy("yes", 10_000, 99)), "SELF_TRADE_BLOCKED");
  t.is(await exchange.refusal(market, taker, buy("yes", 250, 99)), "INSUFFICIENT_BALANCE");
  t.is(await exchange.refusal(market, taker, buy("yes", 251, 59)), "INSUFFICIENT_BALANCE");
  t.is(await exchange.refusal(market, taker, buy("yes", 251, 60)), "SELF_TRADE_BLOCKED");
});

test("INSUFFICIENT_BALANCE: an own order behind the wanted quantity has no effect", async (t) => {
  const market = await makeMarket();
  const makers = await restCrowd(market, 300, 100);
  const taker = await makeTrader({ cents: 100, limits: [null, null, null] });
  await exchange.rest(market, taker, buy("no", 1, 40));
  const codeOf = async (quantity: number): Promise<string> =>
    exchange.refusal(market, taker, buy("yes", quantity, 99));
  t.is(await codeOf(300), "INSUFFICIENT_BALANCE");
  t.is(await codeOf(301), "SELF_TRADE_BLOCKED");
  await exchange.withRollback(async (client) => {
    await client.query("select * from api.place_orders(orders => $1)", [
      ordersIn(market, [{ userId: taker, ...buy("yes", 250, 99) }]),
    ]);
    t.is(await countFree(makers.slice(210)), 90);
  });
});

test("LOSS_LIMIT: a queue is read no further than the limit and 200 orders", async (t) => {
  const market = await makeMarket();
  const makers = await restCrowd(market, 300, 100);
  const taker = await makeTrader({ cents: 1_000_000, limits: [100, null, null] });
  await exchange.withRollback(async (client) => {
    const { rows } = await client.query("select code from api.place_orders(orders => $1)", [
      ordersIn(market, [{ userId: taker, ...buy("yes", 10_000, 99) }]),
    ]);
    t.is(rows[0].code, "LOSS_LIMIT");
    t.is(await countFree(makers.slice(210)), 90);
  });
});

for (const [what, block] of [
  ["ACCOUNT_FROZEN", (user_id: string) => operate("freeze_user", { user_id, reason: "a test" })],
  ["LIMITS_SETUP_REQUIRED", undefined],
] as const) {
  test(`${what}: a user who may not trade locks no queue`, async (t) => {
    const market = await makeMarket();
    const makers = await restCrowd(market, 20);
    const taker = await makeTrader({ cents: 1_000_000, reviewed: block !== undefined });
    await block?.(taker);
    await exchange.withRollback(async (client) => {
      const { rows } = await client.query("select code from api.place_orders(orders => $1)", [
        ordersIn(market, [{ userId: taker, ...buy("yes", 10_000, 99) }]),
      ]);
      t.is(rows[0].code, what);
      t.is(await countFree(makers.slice(5)), 15);
    });
  });
}

test("SELF_TRADE_BLOCKED: an own order that came to rest earlier in the same batch", async (t) => {
  const [market, maker, taker] = await makeMarketWith(2);
  await queue(market, maker, buy("no", 1, 45), 120);
  await withdraw(taker, 40);
  const outcomes = await exchange.placeBatch(market, [
    [taker, buy("no", 1, 40)],
    [taker, buy("yes", 10_000, 99)],
  ]);
  t.deepEqual(
    outcomes.map(({ code }) => code),
    [null, "SELF_TRADE_BLOCKED"],
  );
});

test("an order that can pay for all of a long queue takes all of it", async (t) => {
  const [market, maker] = await makeMarketWith(1);
  const taker = await makeTrader({ cents: 1200 * 55 + 2079 });
  await queue(market, maker, buy("no", 1, 45), 1200);
  // 7 % of 1200 x 55 x 45 / 100 cents.
  const answer = await place(market, taker, buy("yes", 1200, 55));
  t.is(answer.feeCents, 2079);
  t.is(answer.fills.length, 1200);
  t.is(answer.balance.total, 0);
  t.is(await openOrdersOf(maker), 0);
});

test.serial("what an order costs is in proportion to its fills, its answer included", async (t) => {
  const [market, maker] = await makeMarketWith(1, { cents: 10_000_000 });
  const taker = await exchange.makeTrader({ cents: 10_000_000 });
  const msOf = async (fills: number): Promise<number> => {
    await queue(market, maker, buy("no", 1, 60), fills);
    const began = performance.now();
    const { fills: made } = await place(market, taker, buy("yes", fills, 40));
    t.is(made.length, fills);
    return performance.now() - began;
  };
  await msOf(200);
  // A busy machine makes one order or another slow. A cost out of proportion makes all of them slow.
  let [few, many] = [await msOf(1000), await msOf(4000)];
  for (let round = 1; round < 3 || (round < 10 && many >= 10 * few); round += 1) {
    [few, many] = [Math.min(few, await msOf(1000)), Math.min(many, await msOf(4000))];
  }
  t.log(`${Math.round(few)} and ${Math.round(many)} ms`);
  t.true(many < 10 * few, `four times as many fills took ${(many / few).toFixed(1)} times as long`);
});
