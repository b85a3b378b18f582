import { randomUUID } from "node:crypto";
import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { buy, ioc } from "../../helpers/exchange/orders.ts";
import { switchWorker } from "../../helpers/exchange/dead_man_switches.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { until } from "../../helpers/until.ts";

/** The dead man's switch. The clock stands; the worker's functions are called one by one. */

const exchange = testExchange(test, { sessions: 3 });
const {
  clock,
  makeLiveMarket,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
  order,
} = exchange;
const { place, refusal, release, rest } = exchange;

const NOON = "2040-01-10T12:00:00.000Z";
const in5s = "2040-01-10T12:00:05.000Z";

test.serial.beforeEach("stop the clock", () => clock.freeze(NOON));

const set = async (
  userId: string,
  timeoutMs: number,
  once: { idempotencyKey?: string; requestFingerprint?: string } = {},
) => {
  const result = await exchange.calls.setDeadMan({ userId, timeoutMs, ...once });
  const { code, replayed, body, firedAt } = result;
  const expiresAt = code === null ? JSON.parse(body).expiresAt : null;
  return { code, replayed, firedAt, expiresAt };
};

const expiryOf = async (userId: string): Promise<string | null> =>
  JSON.parse(await exchange.calls.getDeadMan({ userId })).expiresAt;

const { workers, due, fire: work } = switchWorker(exchange);

test.serial("it is off, is set, is renewed, is turned off", async (t) => {
  const ann = await makeTrader();
  t.is(await expiryOf(ann), null);
  t.like(await set(ann, 5000), { code: null, expiresAt: in5s, firedAt: null });
  t.is(await expiryOf(ann), in5s);
  await clock.advance(4999);
  t.like(await set(ann, 1000), { code: null, expiresAt: "2040-01-10T12:00:05.999Z" });
  t.is(await work(), 0);
  t.like(await set(ann, 0), { code: null, expiresAt: null });
  t.is(await expiryOf(ann), null);
});

test.serial("INVALID_REQUEST: a time that is too short or too long; UNAUTHORIZED", async (t) => {
  const ann = await makeTrader();
  for (const ms of [-1, 1, 999, 300_001]) t.is((await set(ann, ms)).code, "INVALID_REQUEST");
  for (const ms of [1000, 300_000]) t.is((await set(ann, ms)).code, null);
  t.is((await set(randomUUID(), 1000)).code, "UNAUTHORIZED");
  await set(ann, 0);
});

test.serial(
  "it fires at its time and not before, once, with an event for each order",
  async (t) => {
    const markets = await makeMarkets(2);
    const { market: live } = await makeLiveMarket();
    const [ann, bob] = await makeTraders(2);
    const ids: string[] = [];
    for (const market of markets) ids.push(...(await rest(market, ann, buy("yes", 1, 40))));
    ids.push((await place(live, ann, buy("yes", 1, 40))).order.id);
    const [kept] = await rest(markets[0], bob, buy("yes", 2, 40));
    await set(ann, 5000);
    await set(bob, 60_000);
    const listener = await exchange.listen();
    await listener.heard();
    await clock.advance(4999);
    t.is(await work(), 0);
    await clock.advance(1);
    t.is(await work(), 3);
    for (const id of ids) {
      t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_cancelled" });
    }
    t.is((await order(bob, kept)).status, "open");
    const { users } = await listener.heard();
    t.deepEqual(
      users
        .filter(({ event }) => event.type === "order_cancelled")
        .map(({ userId, event }) => [userId, event.orderId, event.cancelReason])
        .sort(),
      ids.map((id) => [ann, id, "user_cancelled"]).sort(),
    );
    t.is(await expiryOf(ann), null);
    const [later] = await rest(markets[1], ann, buy("yes", 1, 41));
    await clock.advance(3_600_000);
    t.is(await work(), 1, "of Bob alone: Ann's fires once");
    t.is((await order(ann, later)).status, "open");
  },
);

test.serial("DEAD_MAN_FIRED: it can't be renewed once it has expired, worker or not", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [first, second] = await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 41));
  await set(ann, 5000);
  await clock.advance(5000);
  t.is((await set(ann, 5000)).code, "DEAD_MAN_FIRED");
  t.is((await set(ann, 0)).code, "DEAD_MAN_FIRED");
  const [found] = await due();
  t.is((await set(ann, 5000)).code, "DEAD_MAN_FIRED");
  // Not even when the clock of a new primary is behind.
  await clock.freeze(NOON);
  t.is((await set(ann, 5000)).code, "DEAD_MAN_FIRED");
  await clock.freeze(in5s);
  const { marketId, orderIds } = found!;
  await withClient(workers(), (client) =>
    call(client, jobs.cancelDeadManOrders, {
      ...{ marketIds: [marketId], orderIds: orderIds.slice(0, 1), waits: false },
    }),
  );
  t.is((await set(ann, 5000)).code, "DEAD_MAN_FIRED");
  await exchange.cancel(ann, second);
  t.is((await order(ann, first)).cancelReason, "user_cancelled");
  const again = await set(ann, 5000);
  t.deepEqual(again, {
    code: null,
    replayed: false,
    firedAt: in5s,
    expiresAt: "2040-01-10T12:00:10.000Z",
  });
  t.is((await set(ann, 0)).firedAt, in5s);
});

test.serial("after it has fired it is set anew, and the answer says when it fired", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40));
  await set(ann, 5000);
  await clock.advance(6000);
  t.is(await work(), 1);
  await clock.advance(1000);
  t.like(await set(ann, 1000), { code: null, firedAt: in5s });
  // An answer may get lost: the others say so, too.
  t.is((await set(ann, 0)).firedAt, in5s);
  await clock.freeze("2040-01-11T12:00:04.999Z");
  t.is((await set(ann, 0)).firedAt, in5s);
  await clock.advance(1);
  t.is((await set(ann, 0)).firedAt, null);
});

test.serial("what is placed after it has fired stays; an older order is not amended", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [first, second, third] = await rest(
    market,
    ann,
    buy("yes", 1, 40),
    buy("yes", 1, 40),
    buy("yes", 2, 40),
  );
  await set(ann, 5000);
  await clock.advance(5001);
  const [late] = await rest(market, ann, buy("yes", 2, 30));
  const amended = async (id: string, body: { price?: number; quantity?: number }) =>
    (await exchange.amend(ann, id, body)).code;
  // A renewal that was in time may still be committing.
  t.is(await amended(first, { price: 41 }), "ORDER_NOT_AMENDABLE");
  t.is((await order(ann, first)).status, "open");
  await clock.advance(2000);
  t.is(await amended(first, { price: 41 }), "ORDER_NOT_AMENDABLE", "no worker has come");
  t.is((await order(ann, first)).cancelReason, "user_cancelled");
  t.is(await amended(third, { quantity: 1 }), "ORDER_NOT_AMENDABLE");
  t.is((await due()).length, 1);
  t.is(await amended(second, { price: 41 }), "ORDER_NOT_AMENDABLE");
  t.is(await amended(late, { price: 31 }), null);
  t.is(await work(), 0);
  t.deepEqual(
    (await exchange.orders(ann)).data.map(({ price }) => price),
    [31],
  );
  t.is(await expiryOf(ann), null);
});

test.serial("a scheduled order is cancelled at its release, worker or not", async (t) => {
  for (const finds of [false, true]) {
    await clock.freeze(NOON);
    const { market } = await makeLiveMarket({ live_delay_ms: 10_000 });
    const ann = await makeTrader();
    const { order: waiting } = await place(market, ann, buy("yes", 1, 60));
    const { order: fleeting } = await place(market, ann, buy("yes", 1, 60, ioc));
    await set(ann, 5000);
    await clock.advance(finds ? 5000 : 7000);
    if (finds) await due();
    await clock.freeze("2040-01-10T12:00:10.000Z");
    t.true((await release(market)) > 0);
    for (const { id } of [waiting, fleeting]) {
      t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_cancelled" });
    }
    t.is(await work(), 0);
    t.deepEqual(await exchange.verify(), []);
  }
});

test.serial(
  "an order that is committed after the expiry, but came before it, goes too",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    await set(ann, 5000);
    await clock.advance(4999);
    let found: number | undefined;
    const placing = await exchange.api.connect();
    try {
      await placing.query("begin");
      await call(placing, api.placeOrders, {
        orders: [{ marketId: market, userId: ann, ...buy("yes", 1, 40) }],
        ...{ atomic: false, waits: true },
      });
      await clock.advance(2);
      found = (await due()).length;
      await placing.query("commit");
    } finally {
      placing.release();
    }
    t.is(found, 0, "it is looked at again");
    t.is(await work(), 1);
    t.is(await expiryOf(ann), null);
  },
);

test.serial("an amendment that waits while the switch expires is rejected", async (t) => {
  const market = await makeMarket();
  const rows = await exchange.query(
    "select t.public_id as id from trading.traders as t where t.public_id = any ($1) order by t.user_id",
    [await makeTraders(2)],
  );
  const [bob, ann] = rows.map(({ id }) => id);
  await rest(market, bob, buy("no", 1, 40));
  const [id] = await rest(market, ann, buy("yes", 3, 30));
  await set(ann, 5000);
  await clock.advance(4999);
  // The amendment has its time before the expiry, and waits for bob, who is locked before ann.
  const amending = await exchange.withRollback(async (holder) => {
    const held = await holder.query(
      "select pg_backend_pid() as pid from trading.traders as t where t.public_id = $1 for no key update",
      [bob],
    );
    const result = exchange.amend(ann, id, { price: 60 });
    await until("the amendment waits", async () => {
      const blocked = await exchange.query(
        "select from pg_stat_activity as a where $1 = any (pg_blocking_pids(a.pid))",
        [held.rows[0].pid],
      );
      return blocked.length > 0;
    });
    await clock.advance(2);
    t.is((await due()).length, 1);
    return { result };
  });
  t.is((await amending.result).code, "DEAD_MAN_FIRED");
  t.is((await order(ann, id)).status, "open");
  t.is(await work(), 1);
  t.like(await order(ann, id), { status: "cancelled", filledQuantity: 0 });
  t.is(await expiryOf(ann), null);
});

test.serial("a market that is locked is passed over, and done later", async (t) => {
  const [one, two] = await makeMarkets(2);
  const ann = await makeTrader();
  await rest(one, ann, buy("yes", 1, 40));
  await rest(two, ann, buy("yes", 1, 40));
  await set(ann, 5000);
  await clock.advance(5000);
  const found = await due();
  t.is(found.length, 2);
  const marketIds = found.map(({ marketId }) => marketId).sort((a, b) => a - b);
  const orderIds = found.flatMap((each) => each.orderIds);
  await exchange.withRollback(async (client) => {
    await client.query("select trading.lock_market($1)", [marketIds[0]]);
    const result = await withClient(workers(), (worker) =>
      call(worker, jobs.cancelDeadManOrders, { marketIds, orderIds, waits: false }),
    );
    t.deepEqual(result, { cancelled: 1, busy: [marketIds[0]!] });
    t.deepEqual(await due([marketIds[0]!]), []);
  });
  t.is(await work(), 1);
});

test.serial("a key: the first answer again, also when it fired meanwhile", async (t) => {
  const ann = await makeTrader();
  const once = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  await set(ann, 5000, once);
  await clock.advance(1000);
  t.like(await set(ann, 5000, once), { code: null, replayed: true, firedAt: null });
  t.is((await set(ann, 5000, once)).expiresAt, in5s);
  t.is(await expiryOf(ann), in5s);
  const other = { ...once, requestFingerprint: randomUUID() };
  t.is((await set(ann, 1000, other)).code, "IDEMPOTENCY_KEY_REUSED");
  t.is(await expiryOf(ann), in5s);
  await set(ann, 0);
});

test.serial("a replay says that it has fired, too", async (t) => {
  const ann = await makeTrader();
  const once = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  await set(ann, 5000);
  await clock.advance(6000);
  t.like(await set(ann, 1000, once), { replayed: false, firedAt: in5s });
  t.like(await set(ann, 1000, once), { replayed: true, firedAt: in5s });
});

const offer = buy("no", 2, 40);
const take = buy("yes", 1, 60, ioc);

test.serial("without a worker its orders trade for two seconds and then no more", async (t) => {
  const [market, other] = await makeMarkets(2);
  const [ann, bob] = await makeTraders(2);
  const [id] = await rest(market, ann, offer);
  const [otherId] = await rest(other, ann, offer);
  await set(ann, 5000);
  await clock.advance(6999);
  t.is((await place(market, bob, take)).order.status, "filled");
  await clock.advance(1);
  t.is(await refusal(market, bob, take), "INSUFFICIENT_LIQUIDITY");
  t.like(await order(ann, id), { cancelReason: "user_cancelled", filledQuantity: 1 });
  t.is((await order(ann, otherId)).status, "open", "nothing has met it");
  // What is placed later is no concern of that switch.
  const [late] = await rest(market, ann, offer);
  t.is((await place(market, bob, take)).order.status, "filled");
  t.is((await set(ann, 5000)).code, "DEAD_MAN_FIRED");
  t.is(await work(), 1);
  t.is((await order(ann, otherId)).cancelReason, "user_cancelled");
  t.is((await order(ann, late)).status, "partially_filled");
});

test.serial("an order behind those of an expired switch is met, in a batch too", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  await rest(market, ann, buy("no", 2, 45), buy("no", 2, 40));
  const [behind] = await rest(market, cid, buy("no", 2, 40));
  await set(ann, 5000);
  await clock.advance(7000);
  const orders = [1, 2].map(() => ({ ...take, marketId: market, userId: bob }));
  const results = await exchange.calls.placeOrders({ orders, atomic: false, waits: true });
  t.deepEqual(
    results.map(({ code, body }) => code ?? JSON.parse(body).order.averagePrice ?? "placed"),
    ["placed", "placed"],
  );
  t.is((await order(cid, behind)).status, "filled");
  t.is(await exchange.balance(ann), 100_000);
  t.deepEqual(await exchange.book(market), { bids: [], asks: [] });
});

test.serial("once a worker has found it expired, its orders trade no more", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, offer);
  await set(ann, 5000);
  await clock.advance(5000);
  t.is((await due()).length, 1);
  t.is(await refusal(market, bob, take), "INSUFFICIENT_LIQUIDITY");
});

test.serial("what is placed after its expiry stays, however late the worker comes", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [early] = await rest(market, ann, offer);
  await set(ann, 5000);
  await clock.advance(5001);
  const [late] = await rest(market, ann, offer);
  await clock.advance(60_000);
  t.is(await work(), 1);
  t.is((await order(ann, early)).cancelReason, "user_cancelled");
  t.is((await order(ann, late)).status, "open");
});

test.serial("a worker's login cancels no order without a switch that has fired", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, offer);
  const { rows } = await exchange.database.pool.query<{ market_id: string; order_id: string }>(
    "select market_id, order_id from trading.active_orders where order_public_id = $1",
    [id],
  );
  const cancel = () =>
    withClient(workers(), (client) =>
      call(client, jobs.cancelDeadManOrders, {
        marketIds: [Number(rows[0]!.market_id)],
        orderIds: [Number(rows[0]!.order_id)],
        waits: true,
      }),
    );
  t.is((await cancel()).cancelled, 0);
  const bob = await makeTrader();
  await rest(market, bob, offer);
  await set(bob, 5000);
  await clock.advance(6000);
  t.is((await due()).length, 1);
  t.is((await cancel()).cancelled, 0, "it is the switch of another user");
  t.is(await work(), 1);
  await set(ann, 5000);
  await clock.advance(6000);
  t.is((await cancel()).cancelled, 0, "no worker has found it expired yet");
  await due();
  t.is((await cancel()).cancelled, 1);
});

test.serial(
  "admin.run_due fires it, and the audit log says how many orders it cancelled",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    const ids = await rest(market, ann, ...Array.from({ length: 450 }, () => offer));
    await set(ann, 5000);
    await clock.advance(5000);
    await exchange.operate("run_due", {});
    const rows = await exchange.query(
      "select arguments ->> 'deadManCancelled' as cancelled from admin.audit_log order by id desc limit 1",
    );
    t.is(rows[0].cancelled, "450");
    t.is((await order(ann, ids.at(-1)!)).cancelReason, "user_cancelled");
    t.deepEqual(await exchange.book(market), { bids: [], asks: [] });
    t.is(await expiryOf(ann), null);
  },
);

test.serial("admin.run_due counts each order once: expired, or ended by the switch", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const bob = await makeTrader();
  const ids = await rest(
    ...([market, ann] as const),
    ...[buy("yes", 1, 40, { expiresAt: in5s }), buy("yes", 1, 40, { expiresAt: in5s }), offer],
  );
  const [other] = await rest(market, bob, buy("yes", 1, 30, { expiresAt: in5s }));
  await set(ann, 2000);
  await clock.advance(8000);
  t.like(await exchange.operate("run_due", {}), { expired: 3 });
  const rows = await exchange.query(
    "select arguments from admin.audit_log order by id desc limit 1",
  );
  t.like(rows[0].arguments, { expired: 3, deadManCancelled: 1 });
  const reasons = ids.map(async (id) => (await order(ann, id)).cancelReason);
  t.deepEqual(await Promise.all(reasons), ["expired", "expired", "user_cancelled"]);
  t.is((await order(bob, other)).cancelReason, "expired");
});

test.serial("an order that expired before counts as expired", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("yes", 1, 40, { expiresAt: in5s }));
  await set(ann, 5000);
  await clock.advance(5000);
  t.is(await work(), 0);
  t.is((await order(ann, id)).cancelReason, "expired");
  t.is(await expiryOf(ann), null);
});
