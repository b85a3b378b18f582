import { randomUUID } from "node:crypto";
import test from "ava";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, cancel, clock, listen, makeLiveMarket, makeMarket, makeTrader, makeTraders, market } =
  exchange;
const { operate, order, place, rest } = exchange;

const NOON = "2030-01-01T12:00:00Z";
const DAY = 86_400_000;

const at = (seconds: number) => new Date(Date.parse(NOON) + 1000 * seconds).toISOString();
const nothing = { released: 0, expired: 0, closed: 0, archived: 0, keysRemoved: 0 };

test.serial.beforeEach(() => clock.freeze(NOON));

test.serial("it does what is due, and then nothing is due", async (t) => {
  const live = await makeLiveMarket();
  const closing = await makeMarket({ close_time: at(2) });
  const [ann, bob] = await makeTraders(2);
  const scheduled = await place(live.market, ann, buy("no", 10, 40));
  const met = await place(live.market, bob, buy("yes", 4, 60));
  const [expiring, closed] = await rest(
    ...([closing, ann] as const),
    buy("no", 1, 10, { expiresAt: at(1), idempotencyKey: randomUUID() }),
    buy("no", 1, 20),
  );
  t.deepEqual(await operate("run_due"), nothing);
  await clock.advance(3000);
  t.deepEqual(await operate("run_due"), { ...nothing, released: 2, expired: 1, closed: 1 });
  t.like(await order(ann, scheduled.order.id), { status: "partially_filled", filledQuantity: 4 });
  t.is((await order(bob, met.order.id)).status, "filled");
  t.is((await order(ann, expiring)).cancelReason, "expired");
  t.is((await order(ann, closed)).cancelReason, "market_closed");
  t.is((await market(closing)).status, "closed");
  t.deepEqual(await operate("run_due"), nothing);
  await cancel(ann, scheduled.order.id);
  await clock.advance(30 * DAY);
  t.deepEqual(await operate("run_due"), { ...nothing, archived: 2, keysRemoved: 1 });
  t.is((await order(ann, closed)).cancelReason, "market_closed");
});

test.serial(
  "the archive is passed over while a reader keeps it from a new partition",
  async (t) => {
    await clock.freeze("2041-01-01T12:00:00Z");
    const ann = await makeTrader();
    const [id] = await rest(await makeMarket(), ann, buy("no", 1, 10));
    await cancel(ann, id);
    await clock.advance(40 * DAY);
    await withClient(exchange.database.pool, async (reader) => {
      await reader.query("begin");
      await reader.query("select from trading.archived_orders");
      t.like(await operate("run_due"), { archived: 0 });
      await reader.query("rollback");
    });
    t.like(await operate("run_due"), { archived: 1 });
  },
);

test.serial(
  "a release after the close time does not trade, and is announced as a release",
  async (t) => {
    const { event } = await makeLiveMarket();
    const id = await makeMarket({ event_id: event, close_time: at(5) });
    const [ann, bob] = await makeTraders(2);
    await place(id, ann, buy("no", 10, 40));
    await clock.advance(3000);
    await operate("run_due");
    t.deepEqual((await book(id)).asks, ["10 @ 60"]);
    await clock.advance(-2000);
    const taker = await place(id, bob, buy("yes", 10, 60));
    t.is(taker.order.status, "scheduled");
    const { heard } = await listen();
    await heard();
    await clock.advance(10_000);
    t.deepEqual(await operate("run_due"), { ...nothing, released: 1, closed: 1 });
    t.like(await order(bob, taker.order.id), {
      status: "cancelled",
      cancelReason: "market_closed",
      filledQuantity: 0,
    });
    const { users } = await heard();
    t.deepEqual(
      users.map(({ userId, event: told }) => [userId, told.type, told.cancelReason]),
      [
        [bob, "order_released", "market_closed"],
        [ann, "order_cancelled", "market_closed"],
      ],
    );
  },
);

test.serial("many markets, and more orders than one piece processes", async (t) => {
  const ann = await makeTrader();
  const markets = await Promise.all([1, 2, 3].map(() => makeMarket({ close_time: at(60) })));
  const batch = Array.from({ length: 250 }, () => [ann, buy("no", 1, 1)] as [string, object]);
  for (const id of markets) await exchange.placeBatch(id, batch as never);
  await clock.advance(60_000);
  t.deepEqual(await operate("run_due"), { ...nothing, closed: 3 });
  for (const id of markets) t.deepEqual(await book(id), { bids: [], asks: [] });
  t.deepEqual((await exchange.orders(ann)).data, []);
});

test.serial("a locked market is passed over and counted, the others are processed", async (t) => {
  const ann = await makeTrader();
  const [one, other] = [
    await makeMarket({ close_time: at(60) }),
    await makeMarket({ close_time: at(60) }),
  ];
  await rest(one, ann, buy("no", 1, 10));
  await rest(other, ann, buy("no", 1, 10));
  await clock.advance(60_000);
  const holder = await exchange.database.pool.connect();
  await holder.query("begin");
  await holder.query(
    "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
    [one],
  );
  t.deepEqual(await operate("run_due"), { ...nothing, closed: 1 });
  const rows = await exchange.query(
    "select a.arguments ->> 'passedOver' as count from admin.audit_log as a order by a.id desc limit 1",
  );
  t.is(rows[0].count, "1");
  t.is((await market(one)).status, "open");
  t.is((await market(other)).status, "closed");
  await holder.query("rollback");
  holder.release();
  t.deepEqual(await operate("run_due"), { ...nothing, closed: 1 });
});
