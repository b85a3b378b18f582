import test from "ava";
import type { OrderRequest } from "../../src/database/calls.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import { createExchange, testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { randomFrom } from "../helpers/random.ts";

/** Orders of many markets through one gatherer, on a real database. */

/** None gives up: a machine that is busy with other tests may need longer than a server allows. */
const PATIENT = { unfinishedForMs: 60_000 };

const exchange = testExchange(test, { sessions: 20 });
const { makeMarkets, makeTraders, verify } = exchange;

/** Holds the lock of a market, as a command of another process does. */
async function lock(market: string) {
  const client = await exchange.database.pool.connect();
  await client.query("begin");
  await client.query(
    "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
    [market],
  );
  return async () => {
    await client.query("commit");
    client.release();
  };
}

test("a market whose lock is held elsewhere delays no order of 50 others", async (t) => {
  const markets = await makeMarkets(51);
  const [held, ...others] = markets;
  const traders = await makeTraders(3);
  const pool = exchange.database.connectAs("exchange_api", { max: 4 });
  const gatherer = createOrderGatherer({ pool, ...PATIENT });
  const order = (marketId: string, index: number): OrderRequest => ({
    ...{ marketId, userId: traders[index % 3]! },
    ...buy("yes", 1, 10 + (index % 20)),
  });
  const release = await lock(held!);
  let settled = 0;
  const waiting = [0, 1, 2, 3].map(async (index) => {
    const { code } = await gatherer.place(order(held!, index));
    settled++;
    return code;
  });
  // As long as the lock is held, all others are placed, round after round.
  for (let round = 0; round < 10; round++) {
    const outcomes = await Promise.all(
      others.map((market, index) => gatherer.place(order(market, index + round))),
    );
    t.true(outcomes.every(({ code }) => code === null));
    t.is(settled, 0);
  }
  await release();
  t.deepEqual(await Promise.all(waiting), [null, null, null, null]);
  await gatherer.drained();
  t.deepEqual(await verify(), []);
});

test("random orders of few traders in many markets: each is placed once", async (t) => {
  const markets = await makeMarkets(30);
  const traders = await makeTraders(6);
  const { anyOf, between } = randomFrom("gathering");
  const pools = [1, 2].map(() => exchange.database.connectAs("exchange_api", { max: 4 }));
  // Two processes, which meet at the locks of each other.
  const gatherers = pools.map((pool) => createOrderGatherer({ pool, ...PATIENT }));
  const counts = { accepted: 0, rejected: 0 };
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      for (let round = 0; round < 12; round++) {
        const { code } = await anyOf(gatherers).place({
          ...{ marketId: anyOf(markets), userId: anyOf(traders) },
          ...buy(anyOf(["yes", "no"]), between(1, 5), between(40, 60)),
        });
        if (code === null) counts.accepted++;
        else {
          t.is(code, "SELF_TRADE_BLOCKED");
          counts.rejected++;
        }
      }
    }),
  );
  const { rows } = await exchange.database.pool.query(
    `select count(*) from trading.orders as o
     join catalog.markets as m on m.id = o.market_id
     where m.public_id = any ($1)`,
    [markets],
  );
  t.is(Number(rows[0].count), counts.accepted);
  t.is(counts.accepted + counts.rejected, 480);
  t.deepEqual(await verify(), []);
});

test("a user who is locked elsewhere holds up no order of others", async (t) => {
  const markets = await makeMarkets(3);
  const [locked, maker, taker] = await makeTraders(3);
  await exchange.rest(markets[0], locked, buy("no", 1, 50));
  await exchange.rest(markets[1], maker, buy("no", 1, 50));
  const pool = exchange.database.connectAs("exchange_api", { max: 4, lockTimeoutMs: 50 });
  const { place, drained } = createOrderGatherer({ pool, ...PATIENT });
  const holder = await exchange.database.pool.connect();
  try {
    await holder.query("begin");
    const lock = "select from trading.traders where public_id = $1 for no key update";
    await holder.query(lock, [locked]);
    const meetsLocked = place({ marketId: markets[0], userId: taker, ...buy("yes", 1, 50) });
    const ofLocked = place({ marketId: markets[2], userId: locked, ...buy("yes", 1, 40) });
    for (let round = 0; round < 3; round++) {
      const beside = { userId: taker, ...buy("yes", 1, 50 - round) };
      t.is((await place({ ...beside, marketId: markets[1] })).code, null);
      t.is((await place({ ...beside, marketId: markets[2] })).code, null);
    }
    await holder.query("rollback");
    t.deepEqual([(await meetsLocked).code, (await ofLocked).code], [null, null]);
  } finally {
    holder.release();
    await drained();
  }
  t.deepEqual(await verify(), []);
});

test("orders that meet too many makers, beside others: each is placed once", async (t) => {
  const own = await createExchange({ sessions: 20 });
  try {
    const markets = await own.makeMarkets(8);
    const traders = await own.makeTraders(6);
    const { anyOf, between } = randomFrom("deep orders");
    const pools = [1, 2].map(() => own.database.connectAs("exchange_api", { max: 4 }));
    const gatherers = pools.map((pool) => createOrderGatherer({ pool, mostMakers: 2, ...PATIENT }));
    const codes = new Map<string | null, number>();
    await Promise.all(
      Array.from({ length: 24 }, async () => {
        for (let round = 0; round < 12; round++) {
          const { code } = await anyOf(gatherers).place({
            ...{ marketId: anyOf(markets), userId: anyOf(traders) },
            ...buy(anyOf(["yes", "no"]), anyOf([1, 1, 1, 8]), between(45, 55)),
          });
          codes.set(code, (codes.get(code) ?? 0) + 1);
        }
      }),
    );
    await Promise.all(gatherers.map(({ drained }) => drained()));
    t.deepEqual(
      [...codes.keys()].filter((code) => code !== null && code !== "SELF_TRADE_BLOCKED"),
      [],
    );
    const { rows } = await own.database.pool.query("select count(*) from trading.orders");
    t.is(Number(rows[0].count), codes.get(null) ?? 0);
    t.deepEqual(await own.verify(), []);
  } finally {
    await own.database.drop();
  }
});

test("orders placed together or not at all, beside others in the same markets", async (t) => {
  const markets = await makeMarkets(8);
  const [ann, bob, ...others] = await makeTraders(5);
  const pool = exchange.database.connectAs("exchange_api", { max: 4 });
  const gatherer = createOrderGatherer({ pool, ...PATIENT });
  const { anyOf } = randomFrom("together");
  const batches = Array.from({ length: 10 }, async (_, round) => {
    const orders = markets.map((marketId) => ({ marketId, userId: ann, ...buy("yes", 1, 5) }));
    // Every second batch ends with an order that can't be delivered.
    const last = { marketId: anyOf(markets), userId: ann, ...buy("no", 1, 5) };
    if (round % 2 === 1) orders.push({ ...last, orderType: "sell", price: 99 } as never);
    const outcomes = await gatherer.placeAllOrNone(orders);
    t.is(outcomes.at(-1)!.code, round % 2 === 1 ? "INSUFFICIENT_BALANCE" : null);
    t.is(outcomes.filter(({ body }) => Boolean(body)).length, round % 2 === 1 ? 0 : 8);
  });
  const singles = Array.from({ length: 60 }, () =>
    gatherer.place({
      ...{ marketId: anyOf(markets), userId: anyOf([bob, ...others]) },
      ...buy(anyOf(["yes", "no"]), 1, 20),
    }),
  );
  await Promise.all([...batches, ...singles]);
  const { data } = await exchange.orders(ann);
  t.is(data.length, 5 * 8);
  t.deepEqual(await verify(), []);
});
