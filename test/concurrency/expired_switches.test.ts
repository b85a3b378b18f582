import test from "ava";
import type { ExecutionContext } from "ava";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { buy, placeOrders } from "../helpers/exchange/orders.ts";
import { inTransaction, isWaiting, lockUser } from "../helpers/exchange/held_locks.ts";
import { switchWorker } from "../helpers/exchange/dead_man_switches.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { until } from "../helpers/until.ts";

/** A dead man's switch expires while something of its user waits for a lock. */

const exchange = testExchange(test, { sessions: 20 });
const { clock, makeMarket, makeMarketWith, makeTraders, order, place, rest } = exchange;

const SWITCH_MS = 1000;

const setDeadMan = (userId: string, timeoutMs = SWITCH_MS) =>
  withClient(exchange.api, (client) => call(client, api.setDeadMan, { userId, timeoutMs }));

const { due, fire } = switchWorker(exchange);

/** Whose row is locked first. */
async function byId(users: string[]): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    "select public_id as id from trading.traders where public_id = any ($1) order by user_id",
    [users],
  );
  return rows.map(({ id }) => id);
}

/** The taker waits for the maker's lock, has its own or not, and the switch of the taker expires. */
async function assertMissed(t: ExecutionContext, way: { hasOwnLock: boolean; fires: boolean }) {
  const market = await makeMarket();
  const users = await byId(await makeTraders(2));
  const [taker, maker] = (way.hasOwnLock ? users : users.toReversed()) as [string, string];
  await rest(market, maker, buy("no", 5, 50));
  const [old] = await rest(market, taker, buy("yes", 1, 10));
  await setDeadMan(taker);
  let placed: ReturnType<typeof placeOrders> | undefined;
  await inTransaction(exchange, "rollback", async (holder) => {
    await lockUser(holder, maker);
    placed = withClient(exchange.api, (client) =>
      placeOrders(client, [
        { marketId: market, userId: taker, side: "yes", price: 50, quantity: 20 },
      ]),
    );
    await until("the order waits", () => isWaiting(exchange, "api.place_orders"));
    await clock.advance(SWITCH_MS + 1);
    // Its market's lock is held: the older order is cancelled later.
    if (way.fires) await due();
  });
  const [result] = await placed!;
  t.is(result!.code, "DEAD_MAN_FIRED");
  t.is(await fire(), 1);
  t.is((await order(taker, old)).status, "cancelled");
  t.deepEqual((await exchange.orders(taker)).data, []);
  // It was late, and is right when it comes again.
  const again = await place(market, taker, buy("yes", 5, 50));
  t.is(again.fills.length, 1);
}

for (const hasOwnLock of [false, true]) {
  for (const fires of [false, true]) {
    const title = `${hasOwnLock ? "with" : "before it has"} its own lock, ${fires ? "and fires" : "no worker comes"}`;
    test.serial(`an order whose switch expires while it waits is rejected: ${title}`, async (t) => {
      await clock.freeze();
      await assertMissed(t, { hasOwnLock, fires });
    });
  }
}

test.serial("an order that waits and has no other beside it is rejected, too", async (t) => {
  await clock.freeze();
  const market = await makeMarket();
  const users = await byId(await makeTraders(2));
  const [maker, taker] = users as [string, string];
  await rest(market, maker, buy("no", 5, 50));
  await setDeadMan(taker);
  let placed: ReturnType<typeof placeOrders> | undefined;
  await inTransaction(exchange, "rollback", async (holder) => {
    await lockUser(holder, maker);
    placed = withClient(exchange.api, (client) =>
      placeOrders(client, [
        { marketId: market, userId: taker, side: "yes", price: 50, quantity: 20 },
      ]),
    );
    await until("the order waits", () => isWaiting(exchange, "api.place_orders"));
    await clock.advance(SWITCH_MS + 1);
    // It finds nothing to cancel, and the switch is off and can be set anew.
    t.is(await fire(), 0);
    t.is((await setDeadMan(taker)).code, null);
  });
  t.is((await placed!)[0]!.code, "DEAD_MAN_FIRED");
  t.deepEqual((await exchange.orders(taker)).data, []);
});

test.serial("after the clock was set back, users whose switches fired may trade", async (t) => {
  await clock.freeze("2040-03-01T12:00:00Z");
  const [market, ann, bob] = await makeMarketWith(2);
  await setDeadMan(ann);
  await clock.advance(SWITCH_MS);
  await fire();
  for (const earlier of ["2040-03-01T12:00:00.999Z", "2040-03-01T10:00:00Z"]) {
    await clock.freeze(earlier);
    const [resting] = await rest(market, ann, buy("no", 2, 50));
    t.is((await place(market, bob, buy("yes", 2, 50))).order.status, "filled");
    t.is((await order(ann, resting)).status, "filled");
    t.is((await setDeadMan(ann, 0)).code, null);
  }
});

test.serial("a late renewal waits for orders that came in time, and then finds them", async (t) => {
  await clock.freeze();
  const [market, ann] = await makeMarketWith(1);
  await setDeadMan(ann);
  const client = await exchange.api.connect();
  try {
    await client.query("begin");
    await placeOrders(client, [
      { marketId: market, userId: ann, side: "yes", price: 10, quantity: 1 },
    ]);
    await clock.advance(SWITCH_MS);
    const renewed = setDeadMan(ann);
    await until("the renewal waits", () => isWaiting(exchange, "api.set_dead_man"));
    await client.query("commit");
    t.is((await renewed).code, "DEAD_MAN_FIRED");
  } finally {
    client.release();
  }
  t.is(await fire(), 1);
  t.is((await setDeadMan(ann, 0)).code, null);
});

test.serial("a renewal that waits for the switch until it has expired is too late", async (t) => {
  await clock.freeze();
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("yes", 1, 10));
  await setDeadMan(ann);
  let renewed: ReturnType<typeof setDeadMan> | undefined;
  await inTransaction(exchange, "rollback", async (holder) => {
    await holder.query(
      `select from trading.dead_man_switches as s
       where s.user_id = (select t.user_id from trading.traders as t where t.public_id = $1)
       for update`,
      [ann],
    );
    renewed = setDeadMan(ann);
    await until("the renewal waits", () => isWaiting(exchange, "api.set_dead_man"));
    await exchange.cancel(ann, id);
    await clock.advance(SWITCH_MS);
  });
  // It has no lock of the user, whose orders may be under way.
  t.is((await renewed!).code, "DEAD_MAN_FIRED");
  t.is((await setDeadMan(ann)).code, null);
});

test.serial(
  "a switch whose user is never free fires all the same: it waits its turn",
  async (t) => {
    await clock.freeze();
    const [market, ann, bob] = await makeMarketWith(2);
    const [annsOrder] = await rest(market, ann, buy("yes", 1, 10));
    const [bobsOrder] = await rest(market, bob, buy("yes", 1, 11));
    await setDeadMan(ann);
    await setDeadMan(bob);
    await clock.advance(SWITCH_MS + 100);
    await inTransaction(exchange, "rollback", async (holder) => {
      await lockUser(holder, ann);
      const state = { isLooking: true };
      const looked = (async () => {
        while (state.isLooking) await fire();
      })();
      await until("the worker waits for her", () =>
        isWaiting(exchange, "jobs.due_dead_man_orders"),
      );
      state.isLooking = false;
      await looked;
      t.is((await order(bob, bobsOrder)).status, "cancelled", "others do not wait for her");
      t.is((await order(ann, annsOrder)).status, "open");
    });
    t.is(await fire(), 1);
    t.is((await order(ann, annsOrder)).status, "cancelled");
  },
);
