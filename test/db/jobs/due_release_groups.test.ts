import test from "ava";
import { buy, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { rowsRead } from "../../helpers/database/plans.ts";

/** Which markets a worker finds, also behind more due orders than one listing looks at. */

/** Of a live market, until an order is due. */
const DELAY_MS = 3000;
/** So many orders are due in one market: more than a listing looks at over all of them. */
const MANY = 1500;

let exchange: Exchange;
let trader: string;
const keys = new Map<string, number>();

// No test.after with the proofs: copies of an order have no row of trading.orders.
test.serial.beforeEach(async () => {
  exchange = await createExchange();
  await exchange.clock.freeze("2030-01-01T12:00:00Z");
  trader = await exchange.makeTrader();
});
test.serial.afterEach.always(async () => {
  await exchange.database.drop();
});

async function makeLiveMarkets(count: number): Promise<string[]> {
  const { event, market } = await exchange.makeLiveMarket();
  const markets = [market];
  while (markets.length < count) markets.push(await exchange.makeMarket({ event_id: event }));
  const { rows } = await exchange.database.pool.query(
    "select m.public_id, m.id from catalog.markets as m where m.public_id = any ($1)",
    [markets],
  );
  for (const { public_id, id } of rows) keys.set(public_id, id);
  return markets;
}

const schedule = (market: string, request: Request = buy("yes", 1, 2)) =>
  exchange.place(market, trader, request);

/** Copies of the scheduled order of a market, as many as it takes to have so many there. */
async function copyOrders(market: string, count: number): Promise<void> {
  await exchange.database.pool.query(
    `insert into trading.active_orders
     select (c).* from (
       select jsonb_populate_record(o, jsonb_build_object(
         'order_id', nextval('trading.order_ids'), 'order_public_id', gen_random_uuid()
       )) as c
       from trading.active_orders as o cross join generate_series(1, $2::int - 1) as n
       where o.market_id = $1
     ) as copies`,
    [keys.get(market), count],
  );
}

/** The groups, each as its markets in ascending order of their keys. */
async function listDue({ most = 1000, passingOver = [] as number[] } = {}) {
  const worker = exchange.database.connectAs("exchange_worker", { max: 1 });
  const { rows } = await worker.query(
    "select g as markets from jobs.due_release_groups(most => $1, passing_over => $2) as g",
    [most, passingOver],
  );
  await worker.end();
  return rows.map(({ markets }) => markets as number[]);
}

const groupOf = (...markets: string[]) =>
  markets.map((market) => keys.get(market)!).toSorted((a, b) => a - b);

test.serial("a market with many due orders hides no other one", async (t) => {
  const [busy, other, third] = (await makeLiveMarkets(3)) as [string, string, string];
  await schedule(busy);
  await copyOrders(busy, MANY);
  await exchange.clock.advance(1);
  await schedule(other);
  await exchange.clock.advance(1);
  await schedule(third);
  t.deepEqual(await listDue(), []);
  await exchange.clock.advance(DELAY_MS - 1);
  t.deepEqual(await listDue(), [groupOf(busy), groupOf(other)]);
  await exchange.clock.advance(1);
  t.deepEqual(await listDue(), [groupOf(busy), groupOf(other, third)]);
  t.deepEqual(await listDue({ passingOver: groupOf(busy) }), [groupOf(other, third)]);
  t.deepEqual(await listDue({ passingOver: groupOf(busy, third) }), [groupOf(other)]);
  t.deepEqual(await listDue({ passingOver: groupOf(busy, other, third) }), []);
});

test.serial("the markets that have waited longest come first, and so many at most", async (t) => {
  const markets = await makeLiveMarkets(12);
  // Alone: the third for a large order, the fifth for a budget, the seventh for many orders.
  const requests = new Map<number, Request>([
    [2, buy("yes", 101, 2)],
    [4, spend("yes", 500)],
  ]);
  for (const [i, market] of markets.entries()) {
    await schedule(market, requests.get(i));
    await exchange.clock.advance(1);
  }
  await copyOrders(markets[6]!, 26);
  await copyOrders(markets[7]!, 25);
  await exchange.clock.advance(DELAY_MS);
  const at = (...places: number[]) => groupOf(...places.map((place) => markets[place]!));
  t.deepEqual(await listDue(), [at(0, 1, 3, 5, 7, 8, 9, 10), at(2), at(4), at(6), at(11)]);
  t.deepEqual(await listDue({ most: 4 }), [at(0, 1, 3), at(2)]);
  t.deepEqual(await listDue({ most: 1 }), [at(0)]);
  // Also when there are no more orders than that.
  t.deepEqual(await listDue({ most: 12 + 25 + 24 }), await listDue());
});

test.serial("a listing reads what is due and no more of each market than it needs", async (t) => {
  const markets = await makeLiveMarkets(3);
  const [busy, other] = markets as [string, string, string];
  await schedule(busy);
  await copyOrders(busy, MANY);
  await exchange.clock.advance(1);
  await schedule(other);
  // Copies for markets that nothing else knows: a listing reads the scheduled orders only.
  const { pool } = exchange.database;
  await pool.query(
    `insert into trading.active_orders
     select (c).* from (
       select jsonb_populate_record(o, jsonb_build_object(
         'order_id', nextval('trading.order_ids'), 'order_public_id', gen_random_uuid(),
         'market_id', (select max(m.id) from catalog.markets as m) + 1 + n % 200,
         'release_at', o.release_at + interval '1 day'
       )) as c
       from trading.active_orders as o cross join generate_series(1, 6000) as n
       where o.market_id = $1
     ) as copies`,
    [keys.get(other)],
  );
  await pool.query("analyze trading.active_orders");

  const read = () =>
    rowsRead(pool, ["trading.active_orders"], (client) =>
      client.query("select jobs.due_release_groups()"),
    );
  t.is(await read(), 0, "nothing is due");
  await exchange.clock.advance(DELAY_MS);
  // A thousand orders, then the first one of each of 202 markets, then 26 and one.
  const rows = await read();
  t.true(rows <= 1000 + 202 + 27, `${rows} rows`);
  t.deepEqual(await listDue(), [groupOf(busy), groupOf(other)]);
  await pool.query("delete from trading.active_orders where market_id = $1", [keys.get(busy)]);
  const few = await read();
  t.true(few <= 2, `${few} rows`);
});
