import test from "ava";
import fc from "fast-check";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, idsOf, ioc, sell } from "../../helpers/exchange/orders.ts";
import type { Request, Side } from "../../helpers/exchange/orders.ts";
import { seed } from "../../helpers/random.ts";

const exchange = testExchange(test);
const {
  cancel,
  clock,
  giveShares,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
  operate,
  order,
} = exchange;
const { orders, place, placeBatch, rest } = exchange;

test("an order is listed as it was given, with its market's title", async (t) => {
  const market = await makeMarket({ title: "Will it hail?" });
  const ann = await makeTrader();
  await giveShares(market, ann, "yes", 10);
  const expiresAt = "2099-01-01T00:00:00.000Z";
  const { order: placed } = await place(market, ann, sell("yes", 10, 70, { expiresAt }));
  const listed = await order(ann, placed.id);
  t.deepEqual(listed, {
    id: placed.id,
    userId: ann,
    marketId: market,
    marketTitle: "Will it hail?",
    side: "yes",
    price: 70,
    quantity: 10,
    filledQuantity: 0,
    status: "open",
    orderType: "sell",
    timeInForce: "gtc",
    cancelReason: null,
    expiresAt,
    releaseAt: null,
    releaseInMs: null,
    budgetCents: null,
    createdAt: placed.createdAt,
    sharesAhead: 0,
  });
  t.deepEqual((await orders(ann)).data, [listed]);
});

test("by status: open, filled, cancelled and all, newest first, with a total for the last two", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [open, partial, filled, cancelled] = await rest(
    market,
    ann,
    buy("no", 10, 37),
    buy("no", 10, 39),
    buy("no", 10, 40),
    buy("no", 10, 38),
  );
  await place(market, bob, buy("yes", 14, 61));
  await cancel(ann, cancelled);
  const list = async (status: string) => {
    const { data, meta } = await orders(ann, { status });
    return { ids: idsOf(data), meta };
  };
  t.deepEqual(await list("open"), { ids: [partial, open], meta: { pageSize: 2 } });
  t.deepEqual(await list("filled"), { ids: [filled], meta: { pageSize: 1 } });
  t.deepEqual(await list("scheduled"), { ids: [], meta: { pageSize: 0 } });
  t.deepEqual(await list("cancelled"), { ids: [cancelled], meta: { pageSize: 1, total: 1 } });
  t.deepEqual(await list("all"), {
    ids: [cancelled, filled, partial, open],
    meta: { pageSize: 4, total: 4 },
  });
});

test("INVALID_REQUEST: an unknown status", async (t) => {
  const ann = await makeTrader();
  await t.throwsAsync(orders(ann, { status: "resting" }), { code: "EX001" });
});

test("by market; an unknown market has none", async (t) => {
  const [one, two] = await makeMarkets(2);
  const ann = await makeTrader();
  const [first] = await rest(one, ann, buy("no", 1, 40));
  await rest(two, ann, buy("no", 1, 40));
  const { data } = await orders(ann, { market: one });
  t.deepEqual(idsOf(data), [first]);
  t.is((await orders(ann)).data.length, 2);
  const nowhere = "01900000-0000-7000-8000-000000000000";
  t.deepEqual((await orders(ann, { market: nowhere, status: "all" })).data, []);
});

test("a user does not see orders of other users", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [id] = await rest(market, ann, buy("no", 1, 40));
  t.deepEqual((await orders(bob, { status: "all" })).data, []);
  await t.throwsAsync(exchange.order(bob, id));
});

test("at most 200 rows, the total is of all", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const outcomes = await placeBatch(
    market,
    Array.from({ length: 203 }, () => [ann, buy("no", 1, 1)] as [string, ReturnType<typeof buy>]),
  );
  const newestFirst = outcomes.map((outcome) => outcome.answer!.order.id).reverse();
  const { data, meta } = await orders(ann, { status: "all" });
  t.deepEqual(idsOf(data), newestFirst.slice(0, 200));
  t.deepEqual(meta, { pageSize: 200, total: 203 });
  t.deepEqual((await orders(ann)).meta, { pageSize: 200 });
});

test("sharesAhead: better prices of the same stored side and earlier orders at the same price", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 10);
  const [id] = await rest(market, ann, buy("no", 10, 40));
  t.is((await order(ann, id)).sharesAhead, 0);
  await rest(market, bob, buy("no", 3, 41), buy("no", 50, 40), buy("no", 50, 39));
  t.is((await order(ann, id)).sharesAhead, 3);
  const [last] = await rest(market, ann, sell("yes", 5, 60)); // stored NO at 40
  t.is((await order(ann, last)).sharesAhead, 3 + 10 + 50);
  await rest(market, bob, buy("yes", 7, 30)); // the other side
  t.is((await order(ann, last)).sharesAhead, 63);
  const cid = await makeTrader();
  await place(market, cid, buy("yes", 3 + 4, 60)); // takes the 3 and 4 of the first 10
  t.is((await order(ann, last)).sharesAhead, 6 + 50);
  t.is((await order(ann, id)).sharesAhead, 0);
});

test("sharesAhead: 0 for an order that does not rest", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 10, 40));
  const { order: taken } = await place(market, bob, buy("yes", 4, 60, ioc));
  const { order: cut } = await place(market, bob, buy("yes", 40, 60, ioc));
  t.is((await order(bob, taken.id)).sharesAhead, 0);
  t.is((await order(bob, cut.id)).sharesAhead, 0);
});

test.serial("sharesAhead of many orders in many queues is what the rules give", async (t) => {
  const markets = await makeMarkets(3);
  const traders = await makeTraders(4, { cents: 10_000_000 });
  const soon = new Date(Date.now() + 60_000).toISOString();
  const options = { seed: seed(), numRuns: 150 };
  t.log(`TEST_SEED=${options.seed}`);
  const drawn = fc.sample(
    fc.record({
      market: fc.constantFrom(...markets),
      trader: fc.constantFrom(...traders),
      side: fc.constantFrom("yes" as const, "no" as const),
      price: fc.integer({ min: 40, max: 44 }), // on both sides: nothing trades
      quantity: fc.integer({ min: 1, max: 9 }),
      expires: fc.boolean(),
    }),
    options,
  );
  const placed: Resting[] = [];
  for (const resting of drawn) {
    const { market, trader, side, quantity, price, expires } = resting;
    const request = buy(side, quantity, price, expires ? { expiresAt: soon } : {});
    const [id] = await rest(market, trader, request);
    placed.push({ ...resting, id });
  }
  for (const alive of [placed, placed.filter(({ expires }) => !expires)]) {
    for (const trader of traders) {
      const { data } = await orders(trader);
      const own = alive.filter((order) => order.trader === trader);
      t.deepEqual(
        data.map(({ id, sharesAhead }) => [id, sharesAhead]),
        own.map((order) => [order.id, sharesBefore(order, alive)]).reverse(),
      );
    }
    await clock.advance(60_000);
  }
  await clock.release();
});

interface Resting {
  id: string;
  market: string;
  trader: string;
  side: Side;
  price: number;
  quantity: number;
  expires: boolean;
}

/** By the rule: better-priced, or at the same price and earlier, on the same side of the market. */
function sharesBefore(order: Resting, inOrderOfTime: Resting[]): number {
  let isEarlier = true;
  let shares = 0;
  for (const other of inOrderOfTime) {
    if (other === order) isEarlier = false;
    else if (other.market !== order.market || other.side !== order.side) continue;
    else if (other.price > order.price || (other.price === order.price && isEarlier)) {
      shares += other.quantity;
    }
  }
  return shares;
}

test.serial(
  "sharesAhead reads each queue once, however many orders the caller has in it",
  async (t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    const queue = async (own: number, others: number) => {
      const batch = Array.from(
        { length: own + others },
        (_, place) => [place % 5 === 4 ? ann : bob, buy("no", 1, 1)] as [string, Request],
      );
      await placeBatch(market, batch);
    };
    await queue(40, 160);
    const shallow = await ordersRead(ann);
    await queue(40, 160);
    const deep = await ordersRead(ann);
    // Each order of the queue is read once, and each of the caller's once more for its own sake.
    t.true(shallow <= 200 + 3 * 40, `${shallow} rows`);
    t.true(deep <= 400 + 3 * 80, `${deep} rows`);
    // Nor are the rows that were read summed up again and again.
    t.deepEqual(await timesSummedUp(ann), [1]);
  },
);

/** How often the plan of sharesAhead sums up the queues, for each node that does. */
async function timesSummedUp(trader: string): Promise<number[]> {
  return await exchange.withRollback(async (client) => {
    await client.query(`
      load 'auto_explain';
      set local auto_explain.log_min_duration = 0;
      set local auto_explain.log_analyze = on;
      set local auto_explain.log_timing = off;
      set local auto_explain.log_nested_statements = on;
      set local client_min_messages = log;
    `);
    const plans: string[] = [];
    const note = ({ message }: { message?: string | undefined }) => plans.push(message ?? "");
    client.on("notice", note);
    await client.query("select api.list_orders(user_id => $1)", [trader]);
    client.off("notice", note);
    return [...plans.join("\n").matchAll(/WindowAgg .*loops=(\d+)/g)].map(([, loops]) =>
      Number(loops),
    );
  });
}

/** Rows of orders, active ones included, that a list of a trader's orders reads. */
async function ordersRead(trader: string): Promise<number> {
  return await exchange.withRollback(async (client) => {
    const count = async () => {
      const { rows } = await client.query(
        `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as count
         from pg_stat_xact_user_tables
         where schemaname = 'trading' and relname in ('orders', 'active_orders')`,
      );
      return Number(rows[0].count);
    };
    const before = await count();
    await client.query("select api.list_orders(user_id => $1)", [trader]);
    return (await count()) - before;
  });
}

test.serial("an order past its expiry counts nowhere, also before a job cancels it", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const [gone] = await rest(market, ann, buy("no", 5, 42, { expiresAt }));
  await rest(market, ann, buy("no", 4, 41));
  await rest(market, ann, buy("no", 3, 41, { expiresAt }));
  const [behind] = await rest(market, bob, buy("no", 2, 41));
  await rest(market, bob, buy("yes", 9, 30, { expiresAt }));
  t.is((await order(bob, behind)).sharesAhead, 12);
  t.like(await exchange.market(market), { bestBid: 30, bestAsk: 58 });

  await clock.advance(60_000);
  t.is((await order(bob, behind)).sharesAhead, 4);
  t.is((await orders(ann)).data.length, 1);
  t.is((await orders(ann, { status: "scheduled" })).data.length, 0);
  t.is((await order(ann, gone)).sharesAhead, 0);
  t.is((await orders(ann, { status: "all" })).meta.total, 3);

  // The level under an expired order goes on living with what is left.
  const { cancelledOrders } = await place(market, bob, buy("yes", 1, 58));
  t.deepEqual(
    cancelledOrders.map(({ id, cancelReason }) => [id, cancelReason]),
    [[gone, "expired"]],
  );
  t.like(await exchange.market(market), { bestBid: 58, bestAsk: 59 });
  t.deepEqual(await exchange.book(market), { bids: ["1 @ 58"], asks: ["6 @ 59"] });
});

test("best bid and ask, and the book, of a market with and without orders", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  t.like(await exchange.market(market), {
    id: market,
    category: "tests",
    status: "open",
    eventId: null,
    bestBid: null,
    bestAsk: null,
    lastTradePrice: null,
    yesVolume: 0,
    noVolume: 0,
    closeTime: null,
    resolvedOutcome: null,
  });
  t.deepEqual(await exchange.book(market), { bids: [], asks: [] });
  await rest(market, ann, buy("yes", 1, 40), buy("yes", 2, 41), buy("yes", 3, 40));
  await rest(market, ann, buy("no", 4, 40), buy("no", 5, 41), buy("no", 6, 40));
  t.like(await exchange.market(market), { bestBid: 41, bestAsk: 59 });
  t.deepEqual(await exchange.book(market), {
    bids: ["2 @ 41", "4 @ 40"],
    asks: ["5 @ 59", "10 @ 60"],
  });
});

test("an excluded trader still reads", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("yes", 1, 40));
  await operate("self_exclude", { user_id: ann });
  t.like(await order(ann, id), { status: "cancelled", cancelReason: "self_excluded" });
  t.is((await orders(ann, { status: "cancelled" })).data.length, 1);
  t.is(await exchange.balance(ann), 100_000);
});
