import test from "ava";
import { withClient } from "../../helpers/database/test_database.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** One version of a market is one book, also around the expiry of an order. */

const exchange = testExchange(test);
const {
  calls,
  clock,
  listen,
  makeMarket,
  makeMarketWith,
  makeTrader,
  operate,
  order,
  orders,
  rest,
  verify,
  work,
} = exchange;

const NOON = "2030-01-01T12:00:00Z";
const at = (ms: number) => new Date(Date.parse(NOON) + ms).toISOString();

test.serial.beforeEach(() => clock.freeze(NOON));

/** What a read shows of a book, and the version that it names. */
type Read = (marketId: string) => Promise<{ version: number; book: unknown }>;

const reads: Record<string, Read> = {
  getOrderBook: async (marketId) => {
    const { version, body } = (await calls.getOrderBook({ marketId }))!;
    return { version, book: JSON.parse(body) };
  },
  getMarket: async (marketId) => {
    const { version, body } = (await calls.getMarket({ marketId }))!;
    const { bestBid, bestAsk } = JSON.parse(body);
    return { version, book: { bestBid, bestAsk } };
  },
  getMarketSnapshot: async (marketId) => {
    const { version, body } = (await calls.getMarketSnapshot({ marketId }))!;
    return { version, book: JSON.parse(body).orderBook };
  },
  followMarket: async (marketId) => {
    const question = { marketId, afterTradeId: null, withSnapshot: true };
    const { version, levels, snapshot } = (await calls.followMarket(question))!;
    return { version, book: [JSON.parse(levels), JSON.parse(snapshot!).orderBook] };
  },
};

for (const [name, read] of Object.entries(reads)) {
  test.serial(`${name}: the book without an expired order has a version of its own`, async (t) => {
    const [market, ann] = await makeMarketWith(1);
    const [expiring, other] = await rest(
      ...[market, ann],
      buy("yes", 10, 40, { expiresAt: at(5000) }),
      buy("yes", 5, 30),
      buy("no", 7, 20, { expiresAt: at(6000) }),
    );
    const { heard } = await listen();
    await heard();
    const before = await read(market);
    await clock.advance(4999);
    t.deepEqual(await read(market), before, "it has not expired yet");

    await clock.advance(1);
    const after = await read(market);
    t.notDeepEqual(after.book, before.book, "it has expired");
    t.is(after.version, before.version + 1);
    t.deepEqual(await read(market), after, "a read more changes nothing");
    t.like(await order(ann, expiring), { status: "cancelled", cancelReason: "expired" });
    t.is((await order(ann, other)).status, "open");
    const { markets, users } = await heard();
    t.deepEqual(markets, [{ marketId: market, version: after.version }]);
    t.is(users.length, 1);
    await work("expire_orders");
    t.is((await read(market)).version, after.version, "nothing is left to the worker");
    t.deepEqual(await verify(), []);
  });
}

test.serial("a read cancels a few of many that expire together, the worker the rest", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const expiring = Array.from({ length: 25 }, () => buy("yes", 1, 40, { expiresAt: at(5000) }));
  await rest(market, ann, ...expiring);
  await clock.advance(5000);
  const books = new Map<number, string>();
  for (const read of [reads.getOrderBook!, reads.getOrderBook!, reads.getOrderBook!]) {
    const { version, book } = await read(market);
    t.deepEqual(book, { bids: [], asks: [] });
    books.set(version, JSON.stringify(book));
  }
  t.deepEqual([...books.keys()], [26, 27]);

  await rest(market, ann, ...expiring.map((each) => ({ ...each, expiresAt: at(10_000) })));
  await clock.advance(5000);
  const { version } = await reads.getOrderBook!(market);
  await work("expire_orders");
  t.is((await reads.getOrderBook!(market)).version, version + 1, "five were left to the worker");
  t.is((await orders(ann, { market, status: "cancelled" })).meta.total, 50);
  t.deepEqual(await verify(), []);
});

test.serial("a read does not wait for a market that stays locked", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 10, 40, { expiresAt: at(5000) }));
  await clock.advance(5000);
  await withClient(exchange.database.pool, async (client) => {
    await client.query("begin");
    await client.query(
      "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
      [market],
    );
    t.deepEqual(await reads.getOrderBook!(market), { version: 1, book: { bids: [], asks: [] } });
    await client.query("rollback");
  });
  t.deepEqual(await reads.getOrderBook!(market), { version: 2, book: { bids: [], asks: [] } });
});

test.serial("what the closing of a market has to cancel is left to it", async (t) => {
  const market = await makeMarket({ close_time: at(4000) });
  const ann = await makeTrader();
  const [late] = await rest(market, ann, buy("yes", 10, 40, { expiresAt: at(5000) }));
  await clock.advance(5000);
  const { version } = await reads.getOrderBook!(market);
  t.is(version, 1);
  await operate("run_due");
  t.like(await order(ann, late), { status: "cancelled", cancelReason: "market_closed" });
});
