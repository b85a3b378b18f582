import test from "ava";
import { pagesRead } from "../../helpers/database/plans.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { clock, listen, makeMarket, makeMarketWith, makeMarkets, makeTrader, makeTraders } =
  exchange;
const { operate, order, place, rest, version, work } = exchange;

const NOON = "2030-01-01T12:00:00Z";
const at = (seconds: number) => new Date(Date.parse(NOON) + 1000 * seconds).toISOString();

test.serial.beforeEach(() => clock.freeze(NOON));

test.serial(
  "resting orders past their expiry are cancelled, and their owners hear of it",
  async (t) => {
    const market = await makeMarket({ title: "Will it expire?" });
    const [ann, bob] = await makeTraders(2);
    const [early, late, never] = await rest(
      ...[market, ann],
      buy("no", 10, 40, { expiresAt: at(5) }),
      buy("no", 10, 30, { expiresAt: at(6) }),
      buy("no", 10, 20),
    );
    await place(market, bob, buy("yes", 4, 60));
    const { heard } = await listen();
    await heard();

    await clock.advance(4999);
    t.is(await work("expire_orders"), 0);
    await clock.advance(1);
    t.is(await work("expire_orders"), 1);
    t.like(await order(ann, early), {
      status: "cancelled",
      cancelReason: "expired",
      filledQuantity: 4,
    });
    t.is((await order(ann, late)).status, "open");
    const { markets, users } = await heard();
    t.deepEqual(markets, [{ marketId: market, version: await version(market) }]);
    t.deepEqual(users, [
      {
        userId: ann,
        event: {
          ...{ type: "order_cancelled", orderId: early, marketId: market },
          ...{ marketTitle: "Will it expire?", side: "no", price: 40, quantity: 10 },
          ...{ filledQuantity: 4, cancelReason: "expired" },
        },
      },
    ]);

    await clock.advance(86_400_000);
    t.is(await work("expire_orders"), 1);
    t.is((await order(ann, never)).status, "open");
  },
);

test.serial("a call cancels orders of one market, up to the given number", async (t) => {
  const markets = await makeMarkets(2);
  const ann = await makeTrader();
  const expiring = [1, 2, 3].map((price) => buy("no", 1, price, { expiresAt: at(5) }));
  for (const market of markets) await rest(market, ann, ...expiring);
  await clock.advance(5000);
  const before = await Promise.all(markets.map(version));
  const worker = exchange.database.connectAs("exchange_worker", { max: 1 });
  const counts: number[] = [];
  for (let call = 0; call < 5; call++) {
    const { rows } = await worker.query(
      `select coalesce(sum(jobs.expire_orders(market_id => m.id, most => 2)), 0) as count
       from (select * from jobs.due_expiries() as id limit 1) as m`,
    );
    counts.push(rows[0].count);
  }
  t.deepEqual([counts.reduce((sum, count) => sum + count), counts[4]], [6, 0]);
  const raised = (await Promise.all(markets.map(version))).map((now, i) => now - before[i]!);
  t.is(raised[0]! + raised[1]!, 4, "every call was a change of one market");
  t.true(raised.every((count) => count > 0));
});

test.serial(
  "an order expires or is closed by what came first, in any order of the jobs",
  async (t) => {
    for (const jobs of [
      ["expire_orders", "close_markets"],
      ["close_markets", "expire_orders"],
    ]) {
      await clock.freeze(NOON);
      const market = await makeMarket({ close_time: at(60) });
      const ann = await makeTrader();
      const ids = await rest(
        ...([market, ann] as const),
        ...[59, 60, 61].map((second, i) => buy("no", 1, 10 + i, { expiresAt: at(second) })),
        buy("no", 1, 20),
      );
      await clock.advance(100_000);
      for (const job of jobs) await work(job);
      const reasons = await Promise.all(ids.map(async (id) => (await order(ann, id)).cancelReason));
      t.deepEqual(reasons, ["expired", "market_closed", "market_closed", "market_closed"]);
    }
  },
);

test.serial("in a paused market orders expire too", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("no", 1, 10, { expiresAt: at(1) }));
  await operate("set_market_status", { market_id: market, status: "paused" });
  await clock.advance(1000);
  t.is(await work("expire_orders"), 1);
  t.is((await order(ann, id)).cancelReason, "expired");
});

test.serial("what expires after its market has closed is not looked through", async (t) => {
  const market = await makeMarket({ close_time: at(60) });
  const [other, ann] = await makeMarketWith(1);
  const look = () =>
    exchange.withRollback((client) => pagesRead(client, "select jobs.next_work()"));
  await rest(other, ann, buy("no", 1, 10, { expiresAt: at(600) }));
  // A session that plans anew reads pages of the catalogue too.
  const lookTwice = async () => (await look(), await look());
  const before = await lookTwice();
  const many = Array.from({ length: 100 }, () => buy("no", 1, 10, { expiresAt: at(120) }));
  await rest(market, ann, ...many);
  const after = await lookTwice();
  t.true(after < before + 50, `${before} and ${after} pages`);
});
