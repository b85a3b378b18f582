import test from "ava";
import type { ExecutionContext } from "ava";
import { withClient } from "../helpers/database/test_database.ts";
import { switchWorker } from "../helpers/exchange/dead_man_switches.ts";
import { isWaiting } from "../helpers/exchange/held_locks.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { until } from "../helpers/until.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";

/** What ends all orders of a user, and leaves some of them to a worker. */

const exchange = testExchange(test, { sessions: 20 });
const {
  clock,
  makeLiveMarket,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
  operate,
  order,
  place,
} = exchange;
const { placeBatch, rest } = exchange;
const { due, fire } = switchWorker(exchange);

test.before(() => clock.freeze("2040-01-10T12:00:00Z"));
test.afterEach(async () => {
  await fire();
});

/** What ends all orders of a user, and the reason that they show. */
const ends = {
  "a self-exclusion": {
    reason: "self_excluded",
    end: (user_id: string) => operate("self_exclude", { user_id }),
  },
  "a freezing": {
    reason: "trading_paused",
    end: (user_id: string) => operate("freeze_user", { user_id, reason: "fraud check" }),
  },
  "a cancel of all": {
    reason: "user_cancelled",
    end: (user_id: string) => operate("cancel_orders", { user_id }),
  },
};

/** The markets in ascending id, as they are locked. */
async function byId(markets: string[]): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    "select m.public_id as id from catalog.markets as m where m.public_id = any ($1) order by m.id",
    [markets],
  );
  return rows.map(({ id }) => id);
}

/** Holds the lock of a market, as an order under way does, for five seconds at most. */
const withMarketLocked = (market: string, work: () => Promise<void>) =>
  exchange.withRollback(async (holder) => {
    await holder.query("set local idle_in_transaction_session_timeout = '5s'");
    await holder.query("select trading.lock_market(catalog.market_id($1))", [market]);
    await work();
  });

/** Holds the lock of a user, as a deposit under way does, until a call waits for it. */
async function whileUserLocked<T>(
  user: string,
  query: string,
  begin: () => Promise<T>,
  meanwhile: () => Promise<void>,
): Promise<T> {
  let waiting: Promise<T>;
  await exchange.withRollback(async (holder) => {
    await holder.query("set local idle_in_transaction_session_timeout = '5s'");
    await holder.query("select identity.lock_user($1)", [user]);
    waiting = begin();
    await until(`${query} waits`, () => isWaiting(exchange, query));
    await meanwhile();
  });
  return await waiting!;
}

/** The users in the order in which they are locked. */
async function byUserId(users: string[]): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    "select public_id as id from trading.traders where public_id = any ($1) order by user_id",
    [users],
  );
  return rows.map(({ id }) => id);
}

async function timeNow(): Promise<Date> {
  const { rows } = await exchange.database.pool.query("select core.now() as now");
  return new Date(rows[0].now);
}

async function assertSound(t: ExecutionContext): Promise<void> {
  t.deepEqual(await exchange.verify(), []);
}

for (const [title, { reason, end }] of Object.entries(ends)) {
  test.serial(`${title} waits for no market`, async (t) => {
    const [first, second] = (await byId(await makeMarkets(2))) as [string, string];
    const [ann, bob] = await makeTraders(2);
    const [free] = await rest(first, ann, buy("yes", 1, 40));
    const [met, left] = await rest(second, ann, buy("yes", 1, 40), buy("yes", 1, 39));
    await withMarketLocked(second, async () => {
      t.is(await end(ann), 3);
    });
    t.like(await order(ann, free), { status: "cancelled", cancelReason: reason });
    t.is((await order(ann, met)).status, "open");

    // The best of what is left is met before a worker comes: no trade.
    const taken = await place(second, bob, buy("no", 1, 61));
    t.deepEqual(taken.fills, []);
    t.deepEqual(
      taken.cancelledOrders.map(({ cancelReason }) => cancelReason),
      [reason, reason],
    );
    t.like(await order(ann, left), { status: "cancelled", cancelReason: reason });
    t.is(await fire(), 0);
    await assertSound(t);
  });

  test.serial(`a worker cancels what ${title} has left, scheduled orders too`, async (t) => {
    const { market: live } = await makeLiveMarket();
    const [first, second] = (await byId([...(await makeMarkets(1)), live])) as [string, string];
    const ann = await makeTrader();
    for (const market of [first, second]) await place(market, ann, buy("yes", 1, 40));
    const listener = await exchange.listen();
    await withMarketLocked(second, async () => {
      t.is(await end(ann), 2);
    });
    t.is(await fire(), 1);
    await due();
    const { users } = await listener.heard();
    t.deepEqual(
      users
        .filter(({ userId, event }) => userId === ann && event.type !== "order_pending")
        .map(({ event }) => [event.type, event.cancelReason]),
      [
        ["order_cancelled", reason],
        ["order_cancelled", reason],
      ],
    );
    await assertSound(t);
  });
}

test.serial("a scheduled order of a user who was frozen is not released", async (t) => {
  const live = [await makeLiveMarket(), await makeLiveMarket()].map(({ market }) => market);
  const [first, second] = (await byId(live)) as [string, string];
  const ann = await makeTrader();
  await place(first, ann, buy("yes", 1, 40));
  const { order: waiting } = await place(second, ann, buy("yes", 1, 40));
  await withMarketLocked(second, async () => {
    t.is(await operate("freeze_user", { user_id: ann, reason: "fraud check" }), 2);
  });
  await clock.advance(60_000);
  t.is(await exchange.release(second), 1);
  t.like(await order(ann, waiting.id), { status: "cancelled", cancelReason: "trading_paused" });
});

test.serial("of many orders the first 1,000 end at once, and the rest in steps", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  for (let batch = 0; batch < 7; batch += 1) {
    await placeBatch(
      market,
      Array.from({ length: 200 }, () => [ann, buy("yes", 1, 40)] as const),
    );
  }
  const open = async (): Promise<number> => {
    const { rows } = await exchange.database.pool.query(
      `select count(*)::int as count from trading.active_orders as b
       join identity.users as u on u.id = b.user_id where u.public_id = $1`,
      [ann],
    );
    return rows[0].count;
  };
  t.is(await open(), 1400);
  t.is(await operate("self_exclude", { user_id: ann }), 1400);
  t.is(await open(), 400);
  const [step] = await due();
  t.is(step!.orderIds.length, 200);
  t.is(await fire(), 400);
  t.is(await open(), 0);
  await assertSound(t);
});

const setSwitch = (userId: string, timeoutMs: number) =>
  withClient(exchange.api, (client) => call(client, api.setDeadMan, { userId, timeoutMs }));

test.serial("the user's own switch goes on: later orders are under its protection", async (t) => {
  const [first, second] = (await byId(await makeMarkets(2))) as [string, string];
  const ann = await makeTrader();
  for (const market of [first, second]) await rest(market, ann, buy("yes", 1, 40));
  const armed = await setSwitch(ann, 5000);
  await withMarketLocked(second, async () => {
    await operate("cancel_orders", { user_id: ann });
  });
  const [later] = await rest(first, ann, buy("yes", 1, 41));
  t.is(await fire(), 1);
  t.is((await order(ann, later)).status, "open");
  const { rows } = await exchange.database.pool.query("select api.get_dead_man($1) as body", [ann]);
  t.deepEqual(rows[0].body, JSON.parse(armed.body));
  await clock.advance(5000);
  t.is(await fire(), 1);
  t.like(await order(ann, later), { status: "cancelled", cancelReason: "user_cancelled" });
  t.not((await setSwitch(ann, 5000)).firedAt, null);
});

test.serial("a switch that expired before the stop is said to have fired", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40));
  await setSwitch(ann, 1000);
  await clock.advance(1500);
  await withMarketLocked(market, async () => {
    await operate("cancel_orders", { user_id: ann });
  });
  t.is(await fire(), 1);
  t.not((await setSwitch(ann, 5000)).firedAt, null);
});

for (const isFree of [true, false]) {
  const title = `orders whose switch has expired unnoticed end by a stop, ${isFree ? "at once" : "later"}`;
  test.serial(title, async (t) => {
    const [market, ann] = await makeMarketWith(1);
    const ids = await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 39));
    await withClient(exchange.api, (client) =>
      call(client, api.setDeadMan, { userId: ann, timeoutMs: 1000 }),
    );
    await clock.advance(3500);
    const exclude = async () => {
      t.is(await operate("self_exclude", { user_id: ann }), 2);
    };
    await (isFree ? exclude() : withMarketLocked(market, exclude));
    await fire();
    for (const id of ids) t.is((await order(ann, id)).cancelReason, "self_excluded");
    await assertSound(t);
  });
}

test.serial("a switch that has expired unnoticed takes no order of a stop", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [before] = await rest(market, ann, buy("yes", 1, 40));
  await setSwitch(ann, 1000);
  await clock.advance(1500);
  const [after] = await rest(market, ann, buy("yes", 1, 39));
  await withMarketLocked(market, async () => {
    t.is(await operate("self_exclude", { user_id: ann }), 2);
  });
  t.is(await fire(), 2);
  for (const id of [before, after]) t.is((await order(ann, id)).cancelReason, "self_excluded");
  t.not((await setSwitch(ann, 5000)).firedAt, null);
  await assertSound(t);
});

for (const [title, { reason, end }] of Object.entries(ends)) {
  test.serial(`${title} expires scheduled orders past their expiry, uncounted`, async (t) => {
    const { market } = await makeLiveMarket();
    const [ann, bob, cat] = await makeTraders(3);
    const expiresAt = new Date((await timeNow()).getTime() + 1000).toISOString();
    const waiting = new Map<string, string>();
    for (const user of [ann, bob, cat]) {
      const placed = await place(market, user, buy("yes", 1, 40, { expiresAt }));
      waiting.set(user, placed.order.id);
    }
    await clock.advance(1500);
    t.is(await end(ann), 0);
    await withMarketLocked(market, async () => {
      t.is(await end(bob), 0);
    });
    await fire();
    await withMarketLocked(market, async () => {
      t.is(await end(cat), 0);
    });
    await clock.advance(2000);
    await exchange.release(market);
    for (const [user, id] of waiting) t.is((await order(user, id)).cancelReason, "expired");
    await assertSound(t);
  });

  test.serial(`a release during a site-wide pause keeps the reason of ${title}`, async (t) => {
    const { market } = await makeLiveMarket();
    const ann = await makeTrader();
    const { order: waiting } = await place(market, ann, buy("yes", 1, 40));
    await withMarketLocked(market, async () => {
      t.is(await end(ann), 1);
    });
    await operate("set_trading_pause", { paused: true, reason: "a test" });
    await clock.advance(4000);
    await exchange.release(market);
    await operate("set_trading_pause", { paused: false, reason: "a test" });
    t.like(await order(ann, waiting.id), { cancelReason: reason });
    await assertSound(t);
  });
}

test.serial("each order shows the reason of the first stop that it was under", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [first] = await rest(market, ann, buy("yes", 1, 40));
  let second = "";
  await withMarketLocked(market, async () => {
    t.is(await operate("cancel_orders", { user_id: ann }), 1);
  });
  [second] = await rest(market, ann, buy("yes", 1, 39));
  await withMarketLocked(market, async () => {
    t.is(await operate("freeze_user", { user_id: ann, reason: "fraud check" }), 1);
    t.is(await operate("self_exclude", { user_id: ann }), 0);
  });
  t.is(await fire(), 2);
  t.is((await order(ann, first)).cancelReason, "user_cancelled");
  t.is((await order(ann, second)).cancelReason, "trading_paused");
  await assertSound(t);
});

test.serial("a market that closes keeps the reason of what is stopped", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [stopped] = await rest(market, ann, buy("yes", 1, 40));
  const [open] = await rest(market, bob, buy("yes", 1, 40));
  const listener = await exchange.listen();
  await withMarketLocked(market, async () => {
    t.is(await operate("self_exclude", { user_id: ann }), 1);
  });
  await operate("set_market_status", { market_id: market, status: "closed" });
  const { users } = await listener.heard();
  t.deepEqual(
    Object.fromEntries(
      users
        .filter(({ userId }) => userId === ann || userId === bob)
        .map(({ event }) => [event.orderId, event.cancelReason]),
    ),
    { [stopped]: "self_excluded", [open]: "market_closed" },
  );
  t.is((await order(ann, stopped)).cancelReason, "self_excluded");
  t.is((await order(bob, open)).cancelReason, "market_closed");
  t.is(await fire(), 0);
  await assertSound(t);
});

test.serial(
  "a cancel by the user does not count what is stopped, and keeps its reason",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    const [first, second] = await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 39));
    const listener = await exchange.listen();
    await withMarketLocked(market, async () => {
      t.is(await operate("freeze_user", { user_id: ann, reason: "fraud check" }), 2);
    });
    t.is((await exchange.cancel(ann, first)).code, "ORDER_NOT_CANCELLABLE");
    await operate("unfreeze_user", { user_id: ann, reason: "checked" });
    const [third] = await rest(market, ann, buy("yes", 1, 38));
    const all = await withClient(exchange.api, (client) =>
      call(client, api.cancelAllOrders, { userId: ann, cancelledBefore: 0 }),
    );
    t.is(JSON.parse(all.body!).cancelled, 1);
    for (const id of [first, second]) {
      t.like(await order(ann, id), { status: "cancelled", cancelReason: "trading_paused" });
    }
    t.is((await order(ann, third)).cancelReason, "user_cancelled");
    const { users } = await listener.heard();
    t.deepEqual(
      users
        .filter(({ userId }) => userId === ann)
        .map(({ event }) => [event.orderId, event.cancelReason]),
      [first, second].map((id) => [id, "trading_paused"]),
    );
    t.is(await fire(), 0);
    await assertSound(t);
  },
);

test.serial(
  "an operator's cancel in one market does not count what is stopped, and keeps its reason",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    const [first] = await rest(market, ann, buy("yes", 1, 40));
    await withMarketLocked(market, async () => {
      t.is(await operate("freeze_user", { user_id: ann, reason: "fraud check" }), 1);
    });
    await operate("unfreeze_user", { user_id: ann, reason: "checked" });
    const [second] = await rest(market, ann, buy("yes", 1, 39));
    const listener = await exchange.listen();
    t.is(await operate("cancel_orders", { user_id: ann, market_id: market }), 1);
    const { users } = await listener.heard();
    t.deepEqual(
      Object.fromEntries(
        users
          .filter(({ userId }) => userId === ann)
          .map(({ event }) => [event.orderId, event.cancelReason]),
      ),
      { [first]: "trading_paused", [second]: "user_cancelled" },
    );
    t.is(await fire(), 0);
    await assertSound(t);
  },
);

test.serial(
  "an amendment that waits for its user while they are stopped changes nothing",
  async (t) => {
    const market = await makeMarket();
    const [cat, ann] = (await byUserId(await makeTraders(2))) as [string, string];
    await rest(market, cat, buy("no", 3, 40));
    const [id] = await rest(market, ann, buy("yes", 7, 10));
    const amended = await whileUserLocked(
      cat,
      "api.run_command",
      () => exchange.amend(ann, id, { price: 60 }),
      async () => {
        t.is(await operate("cancel_orders", { user_id: ann }), 1);
      },
    );
    t.is(amended.code, "CONFLICT_RETRY");
    t.like(await order(ann, id), { status: "open", filledQuantity: 0 });
    t.is((await exchange.amend(ann, id, { price: 60 })).code, "ORDER_NOT_AMENDABLE");
    t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_cancelled" });
    await assertSound(t);
  },
);

test.serial(
  "an amendment in place of an order that is stopped while it waits for the user changes nothing",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    for (const change of [{ quantity: 5 }, { quantity: 7 }, { price: 10 }]) {
      const [id] = await rest(market, ann, buy("yes", 7, 10));
      const amended = await withClient(exchange.database.pool, async (holder) => {
        await holder.query("begin");
        await holder.query("select identity.lock_user($1)", [ann]);
        const waiting = exchange.amend(ann, id, change);
        await until("the amendment waits", () => isWaiting(exchange, "api.run_command"));
        await holder.query("select admin.cancel_orders(user_id => $1)", [ann]);
        await holder.query("commit");
        return await waiting;
      });
      t.is(amended.code, "CONFLICT_RETRY");
      t.is((await exchange.amend(ann, id, change)).code, "ORDER_NOT_AMENDABLE");
      t.like(await order(ann, id), { status: "cancelled", quantity: 7 });
    }
    await assertSound(t);
  },
);

test.serial("no market stands still while a stop waits for its user", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [id] = await rest(market, ann, buy("yes", 1, 40));
  const ended = await whileUserLocked(
    ann,
    "admin.self_exclude",
    () => operate("self_exclude", { user_id: ann }),
    async () => {
      t.is((await place(market, bob, buy("yes", 1, 30))).order.status, "open");
    },
  );
  t.is(ended, 1);
  t.is((await order(ann, id)).cancelReason, "self_excluded");
});
