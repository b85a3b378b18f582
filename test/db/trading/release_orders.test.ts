import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, postOnly, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** The release of scheduled orders. One test after another: each moves the clock. */

const exchange = testExchange(test);
const { balance, book, clock, giveShares, makeLiveMarket, makeTrader, makeTraders } = exchange;
const { operate, order, place, placeBatch, position, release, version } = exchange;

test.before("stop the clock", () => clock.freeze("2026-03-01T12:00:00Z"));

const DELAY_MS = 3000;

/** Lets the delay of everything placed so far pass and releases it. */
async function releaseAll(market: string): Promise<number> {
  await clock.advance(DELAY_MS);
  return await release(market);
}

/** Releases what is due in some markets in one transaction; returns how many. */
async function releaseGroup(markets: string[], most = 200): Promise<number> {
  const { rows } = await exchange.database.pool.query(
    `select g.released
     from jobs.release_group(
       array(select m.id from catalog.markets as m where m.public_id = any ($1) order by m.id), $2
     ) as g`,
    [markets, most],
  );
  return rows[0].released;
}

/** The events of a user since the last call of the listener. */
async function heardBy(listener: Awaited<ReturnType<typeof exchange.listen>>, trader: string) {
  const { users } = await listener.heard();
  return users.filter(({ userId }) => userId === trader).map(({ event }) => event);
}

test.serial("orders are released at their time, and not before", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const { order: placed } = await place(market, ann, buy("yes", 10, 45));
  await clock.advance(DELAY_MS - 1);
  t.is(await release(market), 0);
  t.is((await order(ann, placed.id)).status, "scheduled");
  await clock.advance(1);
  t.is(await release(market), 1);
  t.like(await order(ann, placed.id), {
    status: "open",
    releaseInMs: null,
    budgetCents: null,
    releaseAt: placed.releaseAt,
  });
  t.deepEqual(await book(market), { bids: ["10 @ 45"], asks: [] });
  t.is(await version(market), 1);
  t.is(await release(market), 0);
});

test.serial(
  "order_released is sent once with the status, the fills, the balance and the fee",
  async (t) => {
    const { market } = await makeLiveMarket();
    const [ann, bob] = await makeTraders(2);
    await place(market, bob, buy("no", 4, 60));
    await releaseAll(market);
    const listener = await exchange.listen();
    const { order: placed } = await place(market, ann, buy("yes", 10, 45));
    await listener.heard();
    await releaseAll(market);
    t.deepEqual(await heardBy(listener, ann), [
      {
        type: "order_released",
        orderId: placed.id,
        marketId: market,
        status: "partially_filled",
        side: "yes",
        price: 45,
        quantity: 10,
        filledQuantity: 4,
        cancelReason: null,
        fills: 1,
        balance: 100_000 - 160 - 7, // 4 at 40, the maker's price, and 6.72 of fee
        feeCents: 7,
      },
    ]);
    await release(market);
    t.deepEqual(await heardBy(listener, ann), []);
    t.is((await position(market, ann, "yes")).quantity, 4);
  },
);

test.serial("a maker hears of the fill of a released taker", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const { order: maker } = await place(market, bob, buy("no", 10, 60));
  await releaseAll(market);
  await place(market, ann, buy("yes", 4, 40));
  const listener = await exchange.listen();
  await listener.heard();
  await releaseAll(market);
  t.deepEqual(await heardBy(listener, bob), [
    { type: "maker_fill", marketId: market, orderIds: [maker.id], fillCount: 1 },
  ]);
});

test.serial("due orders go by release time, then by acceptance, and meet each other", async (t) => {
  const { market, event } = await makeLiveMarket();
  const [ann, bob, cid] = await makeTraders(3);
  const slow = await place(market, ann, buy("yes", 5, 50));
  await operate("set_event_live", { event_id: event, live: true, live_delay_ms: 1000 });
  const fast = await place(market, bob, buy("yes", 5, 50));
  const taker = await place(market, cid, buy("no", 5, 50));
  await clock.advance(DELAY_MS);
  t.is(await release(market), 3);
  t.is((await order(bob, fast.order.id)).status, "filled");
  t.is((await order(cid, taker.order.id)).status, "filled");
  t.is((await order(ann, slow.order.id)).status, "open");
});

test.serial("a released order queues by its release, behind those that were there", async (t) => {
  const { market, event } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const scheduled = await place(market, ann, buy("yes", 5, 50));
  await operate("set_event_live", { event_id: event, live: false });
  await place(market, bob, buy("yes", 7, 50));
  await releaseAll(market);
  t.is((await order(ann, scheduled.order.id)).sharesAhead, 7);
});

test.serial("a late release decides by the book at that time", async (t) => {
  const { market, event } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const { order: placed } = await place(market, ann, buy("yes", 5, 50));
  await operate("set_event_live", { event_id: event, live: false });
  await clock.advance(60_000);
  await place(market, bob, buy("no", 5, 60));
  t.is(await release(market), 1);
  t.like(await order(ann, placed.id), { status: "filled" });
  t.is(await balance(ann), 100_000 - 200 - 9);
});

test.serial("a budget buys what fits at release, and shows its shares then", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  await place(market, bob, buy("no", 100, 60));
  await releaseAll(market);
  const filled = await place(market, ann, spend("yes", 500));
  const starved = await place(market, ann, spend("yes", 5000));
  t.is(filled.order.quantity, 0);
  await releaseAll(market);
  // 12 at 40 are 480 and 20.16 of fee: 501. So 11: 440 and 18.48.
  t.like(await order(ann, filled.order.id), {
    status: "filled",
    quantity: 11,
    filledQuantity: 11,
    budgetCents: null,
  });
  t.like(await order(ann, starved.order.id), {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    quantity: 89,
    filledQuantity: 89,
  });
});

test.serial("an ioc order keeps its fills and loses its rest", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  await place(market, bob, buy("no", 3, 60));
  await releaseAll(market);
  const { order: placed } = await place(market, ann, buy("yes", 10, 40, ioc));
  await releaseAll(market);
  t.like(await order(ann, placed.id), {
    status: "cancelled",
    cancelReason: "insufficient_liquidity",
    filledQuantity: 3,
  });
});

/** What refuses a release, and the reason that it leaves. */
interface Refused {
  reason: string;
  title: string;
  request?: Request;
  trader?: () => Promise<string>;
  /** Comes in between acceptance and release. */
  meanwhile?: (world: { market: string; trader: string; other: string }) => Promise<unknown>;
  afterwards?: () => Promise<unknown>;
}

const onBook = async (market: string, trader: string, request: Request) => {
  const { rows } = await exchange.database.pool.query(
    "select public_id as event_id from catalog.events where title = 'A match' and live",
  );
  for (const { event_id } of rows) await operate("set_event_live", { event_id, live: false });
  return await place(market, trader, request);
};

const refused: Refused[] = [
  {
    reason: "trading_paused",
    title: "the site is paused",
    meanwhile: () => operate("set_trading_pause", { paused: true }),
    afterwards: () => operate("set_trading_pause", { paused: false }),
  },
  {
    reason: "market_closed",
    title: "the market is paused",
    meanwhile: ({ market }) =>
      operate("set_market_status", { market_id: market, status: "paused" }),
  },
  {
    reason: "expired",
    title: "it has expired meanwhile",
    request: buy("yes", 10, 40, { expiresAt: "2026-03-01T12:00:02Z" }),
  },
  {
    reason: "trading_paused",
    title: "its user's account was frozen, and the order left",
    meanwhile: ({ trader }) =>
      operate("freeze_user", { user_id: trader, reason: "why", cancel_orders: false }),
  },
  {
    reason: "trading_paused",
    title: "a minimum age is asked of its user meanwhile",
    meanwhile: () => operate("set_minimum_age", { years: 18, reason: "the law" }),
    afterwards: () => operate("set_minimum_age", { years: 0, reason: "the law" }),
  },
  {
    reason: "trading_paused",
    title: "the site is paused and it has expired meanwhile",
    request: buy("yes", 10, 40, { expiresAt: "2026-03-01T12:00:02Z" }),
    meanwhile: () => operate("set_trading_pause", { paused: true }),
    afterwards: () => operate("set_trading_pause", { paused: false }),
  },
  {
    reason: "market_closed",
    title: "the market is paused and it has expired meanwhile",
    request: buy("yes", 10, 40, { expiresAt: "2026-03-01T12:00:02Z" }),
    meanwhile: ({ market }) =>
      operate("set_market_status", { market_id: market, status: "paused" }),
  },
  {
    reason: "self_trade",
    title: "it would meet its user's own order",
    meanwhile: ({ market, trader }) => onBook(market, trader, buy("no", 1, 60)),
  },
  {
    reason: "post_only_would_cross",
    title: "it is post-only and would trade",
    request: buy("yes", 10, 40, postOnly),
    meanwhile: ({ market, other }) => onBook(market, other, buy("no", 1, 60)),
  },
  {
    reason: "insufficient_liquidity",
    title: "it is ioc and nothing is there",
    request: buy("yes", 10, 40, ioc),
  },
  {
    reason: "insufficient_liquidity",
    title: "its budget can't buy one share",
    request: spend("yes", 41),
    meanwhile: ({ market, other }) => onBook(market, other, buy("no", 1, 60)),
  },
  {
    reason: "insufficient_funds",
    title: "its money is gone",
    meanwhile: ({ trader }) =>
      operate("withdraw", { user_id: trader, amount_cents: 99_700, reference: randomUUID() }),
  },
  {
    reason: "loss_limit",
    title: "a limit was lowered below it",
    meanwhile: ({ trader }) =>
      operate("set_loss_limits", {
        user_id: trader,
        day_cents: 399,
        week_cents: null,
        month_cents: null,
      }),
  },
];

for (const { reason, title, request, meanwhile, afterwards } of refused) {
  test.serial(`${reason}: ${title}`, async (t) => {
    await clock.freeze("2026-03-01T12:00:00Z");
    const { market } = await makeLiveMarket();
    const [trader, other] = await makeTraders(2);
    const { order: placed } = await place(market, trader, request ?? buy("yes", 10, 40));
    await meanwhile?.({ market, trader, other });
    const listener = await exchange.listen();
    await listener.heard();
    const money = await balance(trader);
    t.is(await releaseAll(market), 1);
    t.like(await order(trader, placed.id), {
      status: "cancelled",
      cancelReason: reason,
      filledQuantity: 0,
    });
    t.is(await balance(trader), money);
    const told = await heardBy(listener, trader);
    t.is(told.length, 1, "order_released and no order_cancelled");
    t.like(told[0], {
      type: "order_released",
      orderId: placed.id,
      status: "cancelled",
      cancelReason: reason,
      fills: 0,
      balance: null,
      feeCents: null,
    });
    await afterwards?.();
  });
}

test.serial("every code with which a release may be rejected has a reason", async (t) => {
  const { rows } = await exchange.database.pool.query(
    `select distinct e.code, trading.release_reason(e.code, 'buy', 'user_cancelled') as reason
     from pg_proc as p
     cross join lateral regexp_matches(
       coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), '\\m([A-Z_]{4,})\\M', 'g'
     ) as found
     join core.error_codes as e on e.code = found[1]
     where p.oid::regproc::text in (
       'risk.blocked_by', 'trading.trader_rejection', 'trading.request_rejection',
       'trading.funding_rejection', 'trading.match_orders'
     )`,
  );
  // These are not of an order that was accepted, or leave it due.
  const others = ["UNAUTHORIZED", "MARKET_NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "CONFLICT_RETRY"];
  const codes = rows.filter(({ code }) => !others.includes(code));
  t.true(codes.length >= 11);
  t.deepEqual(
    codes.filter(({ reason }) => reason === null),
    [],
  );
});

test.serial("position_insufficient: the shares were sold meanwhile", async (t) => {
  const { market, event } = await makeLiveMarket({ live: false });
  const [ann, bob] = await makeTraders(2);
  await giveShares(market, ann, "yes", 10);
  await operate("set_event_live", { event_id: event, live: true });
  const first = await place(market, ann, sell("yes", 8, 30));
  const second = await place(market, ann, sell("yes", 8, 30));
  await place(market, bob, buy("yes", 20, 30));
  await releaseAll(market);
  // The first rests and is filled by bob's order; the second found the shares still there.
  t.like(await order(ann, first.order.id), { status: "filled" });
  t.like(await order(ann, second.order.id), {
    status: "cancelled",
    cancelReason: "position_insufficient",
  });
  t.is((await position(market, ann, "yes")).quantity, 2);
});

test.serial("self_excluded: exclusion has cancelled it before its release", async (t) => {
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  const { order: placed } = await place(market, ann, buy("yes", 10, 40));
  t.is(await operate("self_exclude", { user_id: ann }), 1);
  t.is(await releaseAll(market), 0);
  t.like(await order(ann, placed.id), { status: "cancelled", cancelReason: "self_excluded" });
});

test.serial(
  "market_closed: closing cancels scheduled orders, and their users hear of it",
  async (t) => {
    const { market } = await makeLiveMarket();
    const ann = await makeTrader();
    await place(market, ann, buy("yes", 10, 40));
    const listener = await exchange.listen();
    await listener.heard();
    await operate("set_market_status", { market_id: market, status: "closed" });
    t.like((await heardBy(listener, ann))[0], {
      type: "order_cancelled",
      cancelReason: "market_closed",
    });
    t.is(await version(market), 0);
  },
);

test.serial("an order's own schedule does not count against it at its release", async (t) => {
  const { market, event } = await makeLiveMarket();
  const [bob, ann] = [await makeTrader(), await makeTrader({ limits: [1000, null, null] })];
  await place(market, bob, buy("no", 10, 20));
  await releaseAll(market);
  const spent = await place(market, ann, buy("yes", 10, 80)); // at most 800 and 12
  const rests = await place(market, ann, buy("yes", 17, 10)); // at most 170 and 11
  await operate("set_event_live", { event_id: event, live: false });
  await releaseAll(market);
  t.like(await order(ann, spent.order.id), { status: "filled" });
  t.like(await order(ann, rests.order.id), { status: "open" });
});

test.serial("a schedule that is cancelled at its release counts toward no limit", async (t) => {
  const markets = [await makeLiveMarket(), await makeLiveMarket()].map(({ market }) => market);
  const [paused, open] = markets as [string, string];
  const ann = await makeTrader({ limits: [1000, null, null] });
  const first = await place(paused, ann, buy("yes", 10, 80)); // at most 812
  const second = await place(open, ann, buy("yes", 17, 10)); // at most 181
  await operate("set_market_status", { market_id: paused, status: "paused" });
  await operate("set_loss_limits", {
    ...{ user_id: ann, day_cents: 500, week_cents: null, month_cents: null, immediate: true },
  });
  await clock.advance(DELAY_MS);
  t.is(await releaseGroup(markets), 2);
  t.like(await order(ann, first.order.id), { cancelReason: "market_closed" });
  t.like(await order(ann, second.order.id), { status: "open" });
});

test.serial("makers that fail revalidation at a rejected release are cancelled", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const { order: maker } = await place(market, bob, buy("no", 10, 60));
  await releaseAll(market);
  await operate("withdraw", { user_id: bob, amount_cents: 100_000, reference: "all" });
  const { order: placed } = await place(market, ann, buy("yes", 10, 40, ioc));
  await releaseAll(market);
  t.like(await order(bob, maker.id), { status: "cancelled", cancelReason: "insufficient_funds" });
  t.like(await order(ann, placed.id), { cancelReason: "insufficient_liquidity" });
  t.deepEqual(await book(market), { bids: [], asks: [] });
});

test.serial("a replay after the release returns the fills of the release", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  await place(market, bob, buy("no", 10, 60));
  await releaseAll(market);
  const request = buy("yes", 4, 40, { idempotencyKey: randomUUID() });
  await place(market, ann, request);
  await releaseAll(market);
  const [replay] = await placeBatch(market, [[ann, request]]);
  t.true(replay!.replayed);
  t.is(replay!.answer!.order.status, "filled");
  t.is(replay!.answer!.fills.length, 1);
});

test.serial("a release of several orders equals their releases one by one", async (t) => {
  const run = async (most: number) => {
    await clock.freeze("2026-03-01T12:00:00Z");
    const markets = [await makeLiveMarket(), await makeLiveMarket()].map(({ market }) => market);
    const traders = await makeTraders(4, { cents: 400 });
    const placed = [];
    for (let i = 0; i < 60; i++) {
      const [market, trader] = [markets[i % 2]!, traders[i % 4]!];
      const request = buy(
        ...([i % 3 === 0 ? "no" : "yes", 1 + (i % 5), 30 + ((i * 13) % 40)] as const),
        i % 5 === 0 ? ioc : {},
      );
      placed.push({ trader, id: (await place(market, trader, request)).order.id });
      await clock.advance(1);
    }
    await clock.advance(DELAY_MS);
    while ((await releaseGroup(markets, most)) > 0);
    const shown = [];
    for (const { trader, id } of placed) {
      const { status, filledQuantity, cancelReason } = await order(trader, id);
      shown.push({ status, filledQuantity, cancelReason });
    }
    const books = await Promise.all(markets.map(book));
    return { shown, books, cash: await Promise.all(traders.map(balance)) };
  };
  const together = await run(200);
  t.deepEqual(together, await run(1));
  t.true(together.shown.some(({ cancelReason }) => cancelReason === "insufficient_funds"));
});

test.serial("a group is released but for the markets that are locked", async (t) => {
  const markets = [await makeLiveMarket(), await makeLiveMarket()].map(({ market }) => market);
  const ann = await makeTrader();
  for (const market of markets) await place(market, ann, buy("yes", 1, 40));
  await clock.advance(DELAY_MS);
  const { pool } = exchange.database;
  const { rows: ids } = await pool.query(
    "select m.id from catalog.markets as m where m.public_id = any ($1) order by m.id",
    [markets],
  );
  const group = ids.map(({ id }) => id as number);
  const releaseGroup = async () =>
    (await pool.query("select * from jobs.release_group($1)", [group])).rows;
  const holder = await pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select trading.lock_market($1)", [group[1]]);
    t.deepEqual(await releaseGroup(), [{ released: 1, busy: [group[1]] }]);
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  t.deepEqual(await releaseGroup(), [{ released: 1, busy: [] }]);
  t.deepEqual(await releaseGroup(), [{ released: 0, busy: [] }]);
});

test.serial("markets are released eight at a time, and large orders alone", async (t) => {
  const { pool } = exchange.database;
  const { makeMarket } = exchange;
  const { event, market: first } = await makeLiveMarket();
  const markets = [first];
  for (let i = 1; i < 11; i++) markets.push(await makeMarket({ event_id: event }));
  const ann = await makeTrader();
  for (const [i, market] of markets.entries()) {
    const request = i === 3 ? buy("yes", 101, 2) : i === 5 ? spend("yes", 500) : buy("yes", 100, 2);
    await place(market, ann, request);
  }
  await clock.advance(DELAY_MS);
  const { rows } = await pool.query(
    "select cardinality(g) as size from jobs.due_release_groups() as g",
  );
  t.deepEqual(rows.map(({ size }) => size).toSorted(), [1, 1, 1, 8]);
  for (const market of markets) await release(market);
});

test.serial("an order is released no more at the moment of its expiry", async (t) => {
  await exchange.clock.freeze("2034-01-01T12:00:00Z");
  const { market } = await exchange.makeLiveMarket();
  const trader = await exchange.makeTrader();
  const orderUntil = async (expiresAt: string) =>
    (await exchange.place(market, trader, buy("yes", 1, 20, { expiresAt }))).order.id;
  const now = await orderUntil("2034-01-01T12:00:03.000Z");
  const next = await orderUntil("2034-01-01T12:00:03.001Z");
  await exchange.clock.advance(3000);
  await exchange.release(market);
  t.like(await exchange.order(trader, now), { status: "cancelled", cancelReason: "expired" });
  t.like(await exchange.order(trader, next), { status: "open" });
});
