import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { cancel, clock, makeMarket, makeTrader, makeTraders, order, orders, place } = exchange;
const { rest, work } = exchange;

const DAY = 86_400_000;

async function archived(): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    "select public_id from trading.archived_orders order by id",
  );
  return rows.map((row) => row.public_id);
}

test.serial.beforeEach(() => clock.freeze("2030-01-01T12:00:00Z"));
test.serial.afterEach.always(async () => {
  // What a test leaves to be archived is nothing to the next one.
  await clock.advance(1000 * DAY);
  await work("archive_orders");
});

test.serial("a cancelled order that never filled goes 30 days after, to the moment", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  const [id] = (await rest(market, ann, buy("no", 10, 40))) as [string];
  await clock.advance(100 * DAY);
  t.is(await work("archive_orders"), 0, "it is open");
  await cancel(ann, id);
  const before = await order(ann, id);
  await clock.advance(30 * DAY - 1);
  await work("archive_orders");
  t.false((await archived()).includes(id));
  await clock.advance(1);
  t.is(await work("archive_orders"), 1);
  t.true((await archived()).includes(id));
  t.deepEqual(await order(ann, id), before, "it looks as it did");
  t.deepEqual(await exchange.verify(), []);
});

test.serial("orders that are open, filled, or were filled in part stay", async (t) => {
  const market = await makeMarket();
  const [ann, bob] = (await makeTraders(2)) as [string, string];
  const [open, filled, partly] = (await rest(
    ...([market, ann] as const),
    buy("no", 10, 10),
    buy("no", 10, 50),
    buy("no", 10, 40),
  )) as [string, string, string];
  await place(market, bob, buy("yes", 15, 60));
  await cancel(ann, partly);
  const before = await archived();
  for (let month = 0; month < 3; month++) {
    await clock.advance(30 * DAY);
    await work("archive_orders");
  }
  t.deepEqual(await archived(), before);
  for (const id of [open, filled, partly]) t.is((await order(ann, id)).id, id);
  await cancel(ann, open);
});

test.serial("each order is archived when it is due, with any size of pieces", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  const before = await archived();
  const ids = await rest(
    ...([market, ann] as const),
    ...[1, 2, 3, 4, 5, 6, 7].map((price) => buy("no", 1, price)),
  );
  for (const id of ids.slice(0, 4)) await cancel(ann, id);
  await clock.advance(DAY);
  await cancel(ann, ids[4]!);
  await clock.advance(29 * DAY);
  t.is(await work("archive_orders", { most: 2 }), 4);
  t.deepEqual(await archived(), [...before, ...ids.slice(0, 4)]);
  t.is(await work("archive_orders", { most: 2 }), 0);
  await clock.advance(DAY);
  t.is(await work("archive_orders", { most: 2 }), 1);
  t.deepEqual(await archived(), [...before, ...ids.slice(0, 5)]);
  await clock.advance(28 * DAY);
  await cancel(ann, ids[5]!);
  await clock.advance(DAY);
  t.is(await work("archive_orders", { most: 2 }), 0);
  await clock.advance(29 * DAY);
  t.is(await work("archive_orders", { most: 2 }), 1);
  t.deepEqual(await archived(), [...before, ...ids.slice(0, 6)]);
  await cancel(ann, ids[6]!);
});

async function accountOrders(trader: string, page: number) {
  const { rows } = await exchange.api.query(
    "select api.list_account_orders(user_id => $1, status => 'all', page => $2, page_size => 3) as b",
    [trader, page],
  );
  return rows[0].b;
}

test.serial("lists and totals have archived orders, in their places", async (t) => {
  const [market, other] = (await exchange.makeMarkets(2)) as [string, string];
  const ann = await makeTrader();
  const old = await rest(market, ann, buy("no", 1, 1), buy("no", 1, 2), buy("no", 1, 3));
  const [elsewhere] = (await rest(other, ann, buy("no", 1, 4))) as [string];
  for (const id of [old[0]!, old[2]!, elsewhere]) await cancel(ann, id);
  const before = [
    await orders(ann, { status: "all" }),
    await orders(ann, { status: "cancelled", market }),
    await orders(ann, { status: "cancelled" }),
    await accountOrders(ann, 1),
    await accountOrders(ann, 2),
  ];
  await clock.advance(30 * DAY);
  await work("archive_orders");
  const after = [
    await orders(ann, { status: "all" }),
    await orders(ann, { status: "cancelled", market }),
    await orders(ann, { status: "cancelled" }),
    await accountOrders(ann, 1),
    await accountOrders(ann, 2),
  ];
  t.deepEqual(after, before);
  t.deepEqual(
    after.map(({ meta }) => meta.total),
    [4, 2, 3, 4, 4],
  );
  const fresh = await rest(market, ann, buy("no", 1, 5));
  t.deepEqual(
    (await orders(ann, { status: "all", market })).data.map(({ id }) => id),
    [...fresh, old[2], old[1], old[0]],
  );
  t.deepEqual((await orders(ann, { status: "filled" })).data, []);
  await cancel(ann, old[1]!);
});

test.serial("ORDER_NOT_CANCELLABLE: an archived order; to others it does not exist", async (t) => {
  const market = await makeMarket();
  const [ann, bob] = (await makeTraders(2)) as [string, string];
  const [id] = (await rest(market, ann, buy("no", 1, 1))) as [string];
  await cancel(ann, id);
  await clock.advance(30 * DAY);
  await work("archive_orders");
  t.true((await archived()).includes(id));
  t.like(await cancel(ann, id), {
    code: "ORDER_NOT_CANCELLABLE",
    message: "Cannot cancel order with status: cancelled",
  });
  t.is((await cancel(bob, id)).code, "ORDER_NOT_FOUND");
});

test.serial("the idempotency key of an archived order is free again", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  const request = buy("no", 1, 1, { idempotencyKey: randomUUID() });
  const first = await place(market, ann, request);
  await cancel(ann, first.order.id);
  await clock.advance(30 * DAY);
  await work("archive_orders");
  const second = await place(market, ann, request);
  t.not(second.order.id, first.order.id);
  await cancel(ann, second.order.id);
});

test.serial("there is a partition for each month in which orders were made", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  const ids: string[] = [];
  // The two ends of a month.
  for (const time of ["2031-02-01T00:00:00Z", "2031-02-28T23:59:59.999Z"]) {
    await clock.freeze(time);
    const [id] = (await rest(market, ann, buy("no", 1, 1))) as [string];
    await cancel(ann, id);
    ids.push(id);
  }
  await clock.advance(30 * DAY);
  await work("archive_orders");
  const { rows } = await exchange.database.pool.query(
    "select public_id as id from trading.archived_orders_2031_02 order by 1",
  );
  t.deepEqual(
    rows.map(({ id }) => id),
    ids.sort(),
  );
  await t.throwsAsync(exchange.database.pool.query("delete from trading.archived_orders_2031_02"), {
    code: "EX019",
  });
  await t.throwsAsync(
    exchange.database.pool.query(
      "insert into trading.archived_orders select * from trading.archived_orders where public_id = $1",
      [ids[0]],
    ),
    { code: "23505" },
  );
});

test.serial("the archive has the columns of orders, in their order", async (t) => {
  const columns = async (table: string) => {
    const { rows } = await exchange.database.pool.query(
      `select array_agg(attname || ' ' || format_type(atttypid, null) order by attnum) as names
       from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    );
    return rows[0].names;
  };
  t.deepEqual(await columns("trading.archived_orders"), await columns("trading.orders"));
});
