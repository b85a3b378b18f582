import { randomUUID } from "node:crypto";
import test from "ava";
import { overlapping } from "../../helpers/database/overlapping.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { until } from "../../helpers/until.ts";

const exchange = testExchange(test, { sessions: 3 });
const { cancel, clock, makeMarketWith, makeTrader, order, orders, place } = exchange;
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
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("no", 10, 40));
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
  const [market, ann, bob] = await makeMarketWith(2);
  const [open, filled, partly] = await rest(
    ...([market, ann] as const),
    buy("no", 10, 10),
    buy("no", 10, 50),
    buy("no", 10, 40),
  );
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
  const [market, ann] = await makeMarketWith(1);
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

test.serial("a session that plans while a partition comes finds what is moved to it", async (t) => {
  const { pool } = exchange.database;
  const [market, ann] = await makeMarketWith(1);
  const makePartition = async (month: string) => {
    await pool.query("select trading.make_archive_partition($1)", [month]);
  };
  await clock.freeze("2035-05-05T12:00:00Z");
  for (const month of ["2035-05-01Z", "2035-07-01Z"]) await makePartition(month);
  const [id] = await rest(market, ann, buy("no", 1, 1));
  await cancel(ann, id);
  const { rows } = await pool.query(
    // One that does not exist has the archive looked into.
    "select array[o.id, -1] as ids, o.user_id from trading.orders as o where o.public_id = $1",
    [id],
  );
  const { ids, user_id: userId } = rows[0];
  await withClient(pool, (reader) =>
    withClient(pool, async (locker) => {
      const found = async () => {
        const read = "select o.id from trading.pick_orders($1, $2) as o";
        const { rowCount } = await reader.query({
          name: "pick",
          text: read,
          values: [userId, ids],
        });
        return rowCount;
      };
      await reader.query("set plan_cache_mode = force_generic_plan");
      const [{ pid }] = (await reader.query("select pg_backend_pid() as pid")).rows;
      // Planning stops at this partition; another one comes meanwhile.
      await locker.query("begin");
      await locker.query("lock table trading.archived_orders_2035_05 in access exclusive mode");
      const first = found();
      await until("the reader waits", async () => {
        const { rows: blocked } = await pool.query(
          "select cardinality(pg_blocking_pids($1)) > 0 as yes",
          [pid],
        );
        return blocked[0].yes;
      });
      await makePartition("2035-06-01Z");
      await locker.query("rollback");
      t.is(await first, 1);

      await clock.freeze("2035-06-05T12:00:00Z");
      const [later] = await rest(market, ann, buy("no", 1, 2));
      await cancel(ann, later);
      await clock.advance(30 * DAY);
      await work("archive_orders");
      t.true((await archived()).includes(later));
      const { rows: moved } = await pool.query(
        "select a.id from trading.archived_orders as a where a.public_id = $1",
        [later],
      );
      ids.push(moved[0].id);
      t.is(await found(), 2);
    }),
  );
});

test.serial("readers wait where a partition is made and filled at once", async (t) => {
  const { pool } = exchange.database;
  const [market, ann] = await makeMarketWith(1);
  for (const [day, isThere] of [
    ["2036-01-01", false], // 30 days later it is the same month
    ["2037-01-02", false],
    ["2038-01-01", true],
    ["2039-01-02", true],
  ] as const) {
    await clock.freeze(`${day}T00:00:00Z`);
    const [id] = await rest(market, ann, buy("no", 1, 1));
    await cancel(ann, id);
    if (isThere) await work("archive_orders");
    await clock.advance(30 * DAY);
    const { first, second } = await overlapping(
      pool,
      async (client) => {
        await client.query("select trading.archive_orders(10)");
        const { rows } = await client.query(
          `select count(*) > 0 as yes from pg_locks as l
           where l.pid = pg_backend_pid() and l.mode = 'AccessExclusiveLock'
             and l.relation = 'trading.archived_orders'::regclass`,
        );
        return rows[0].yes;
      },
      async (client) => {
        const { rows } = await client.query("select api.list_order_history($1, 1) as page", [ann]);
        return rows[0].page.data[0].id;
      },
    );
    t.is(first, !isThere);
    t.deepEqual(second, { status: "fulfilled", value: id });
    t.true((await archived()).includes(id));
  }
});

test.serial("nobody waits behind a long read of the archive", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await clock.freeze("2040-01-01T00:00:00Z");
  const [id] = await rest(market, ann, buy("no", 1, 1));
  await cancel(ann, id);
  await clock.advance(31 * DAY);
  await exchange.withRollback(async (client) => {
    await client.query("select from trading.archived_orders limit 1");
    await t.throwsAsync(work("archive_orders"), { code: "55P03" });
  });
  t.is(await work("archive_orders"), 1);
});

async function accountOrders(trader: string, page: number) {
  const { rows } = await exchange.api.query(
    "select api.list_account_orders(user_id => $1, status => 'all', page => $2, page_size => 3) as b",
    [trader, page],
  );
  return rows[0].b;
}

test.serial("lists and totals have archived orders, in their places", async (t) => {
  const [market, other] = await exchange.makeMarkets(2);
  const ann = await makeTrader();
  const old = await rest(market, ann, buy("no", 1, 1), buy("no", 1, 2), buy("no", 1, 3));
  const [elsewhere] = await rest(other, ann, buy("no", 1, 4));
  for (const id of [old[0], old[2], elsewhere]) await cancel(ann, id);
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
  await cancel(ann, old[1]);
});

test.serial("ORDER_NOT_CANCELLABLE: an archived order; to others it does not exist", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [id] = await rest(market, ann, buy("no", 1, 1));
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
  const [market, ann] = await makeMarketWith(1);
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
  const [market, ann] = await makeMarketWith(1);
  const ids: string[] = [];
  // The two ends of a month.
  for (const time of ["2031-02-01T00:00:00Z", "2031-02-28T23:59:59.999Z"]) {
    await clock.freeze(time);
    const [id] = await rest(market, ann, buy("no", 1, 1));
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
