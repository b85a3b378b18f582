import test from "ava";
import type { Pool } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ordersIn, sell } from "../../helpers/exchange/orders.ts";

/** What a refresh takes, when rows do not become visible in the order of their ids. */

const exchange = testExchange(test, { sessions: 3 });
const { giveShares, makeMarket, makeTrader, makeTraders, operate, place, rest } = exchange;

const refresh = async (pool: Pool = exchange.database.pool): Promise<boolean> =>
  (await pool.query("select leaderboard.refresh() as done")).rows[0].done;

const differences = async (): Promise<unknown[]> =>
  (await exchange.database.pool.query("select * from leaderboard.verify()")).rows;

const realisedCount = async (): Promise<number> => {
  const { rows } = await exchange.database.pool.query(
    `select coalesce(sum(realised_count), 0)::int as count
     from leaderboard.standings where window_kind = 'all' and category_id = 0`,
  );
  return rows[0].count;
};

const afterTradeId = async (): Promise<number> =>
  (await exchange.database.pool.query("select after_trade_id from leaderboard.state")).rows[0]
    .after_trade_id;

/** A sale by a holder of shares: one realised result. */
async function sellOne(market: string, seller: string): Promise<void> {
  await rest(market, await makeTrader(), buy("yes", 1, 50));
  await place(market, seller, sell("yes", 1, 50));
}

test.serial("a trade that commits after a later one is counted once", async (t) => {
  const [slow, fast] = [await makeMarket(), await makeMarket()];
  const [ann, bob] = await makeTraders(2);
  await giveShares(slow, ann, "yes", 10);
  await giveShares(fast, bob, "yes", 10);
  await rest(slow, await makeTrader(), buy("yes", 1, 50));
  await refresh();
  const before = await realisedCount();

  const client = await exchange.database.pool.connect();
  await client.query("begin");
  await client.query("select * from api.place_orders(orders => $1)", [
    ordersIn(slow, [{ userId: ann, ...sell("yes", 1, 50) }]),
  ]);
  const { rows: underWay } = await client.query("select max(id) as id from trading.trades");
  await sellOne(fast, bob);
  for (let times = 0; times < 4; times++) t.true(await refresh());
  t.is(await realisedCount(), before + 1);
  const mark = await afterTradeId();
  const { rows } = await exchange.database.pool.query("select max(id) as id from trading.trades");
  t.true(mark < underWay[0].id, "the mark has not passed the trade that is under way");

  await client.query("commit");
  client.release();
  t.true(await refresh());
  t.is(await realisedCount(), before + 2);
  // Transactions of other databases on this PostgreSQL hold the mark back as well: until they end.
  while ((await afterTradeId()) < rows[0].id) await refresh();
  t.is(await afterTradeId(), rows[0].id, "now it has");
  t.is(await realisedCount(), before + 2);
  t.deepEqual(await differences(), []);
});

test.serial("pieces give the same result, and the last one moves the snapshot", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await giveShares(market, ann, "yes", 10);
  for (let times = 0; times < 4; times++) await sellOne(market, ann);
  const snapshotAt = async () =>
    (await exchange.database.pool.query("select snapshot_at from leaderboard.state")).rows[0]
      .snapshot_at;
  const before = await snapshotAt();
  const { rows } = await exchange.database.pool.query("select jobs.refresh_leaderboard(2) as more");
  t.is(rows[0].more, 1);
  t.deepEqual(await snapshotAt(), before);
  t.true((await exchange.work("refresh_leaderboard", { most: 2 })) > 0);
  t.true((await snapshotAt()) > before);
  t.deepEqual(await differences(), []);
});

test.serial("one refresh at a time: a job does nothing while another refresh runs", async (t) => {
  const client = await exchange.database.pool.connect();
  await client.query("begin");
  await client.query("select leaderboard.refresh()");
  const { rows } = await exchange.database.pool.query("select jobs.refresh_leaderboard() as more");
  t.is(rows[0].more, 0);
  await client.query("rollback");
  client.release();
});

test.serial("orders and refreshes do not wait for each other", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await giveShares(market, ann, "yes", 60);
  await refresh();
  const client = await exchange.database.pool.connect();
  await client.query("begin");
  await client.query("select leaderboard.refresh()");
  await sellOne(market, ann);
  await operate("set_profile", { user_id: ann, private: true });
  await client.query("commit");
  client.release();

  const done = new AbortController();
  const refreshing = (async () => {
    while (!done.signal.aborted) await refresh();
  })();
  await Promise.all(
    [market, await makeMarket(), await makeMarket()].map(async (id) => {
      const seller = id === market ? ann : await makeTrader();
      if (id !== market) await giveShares(id, seller, "yes", 20);
      for (let times = 0; times < 15; times++) await sellOne(id, seller);
      await operate("resolve_market", { market_id: id, outcome: "no" });
    }),
  );
  done.abort();
  await refreshing;
  await refresh();
  t.deepEqual(await differences(), []);
});

test.serial("an operator's refresh is audited, and returns the time of the snapshot", async (t) => {
  const at: Date = await operate("refresh_leaderboard");
  const { rows } = await exchange.database.pool.query(
    `select s.snapshot_at, (select l.action from admin.audit_log as l order by l.id desc limit 1)
     from leaderboard.state as s`,
  );
  t.deepEqual(rows[0], { snapshot_at: at, action: "refresh_leaderboard" });
});

test.serial(
  "shares of an exclusive event that are converted and redeemed count as realised",
  async (t) => {
    const event_id = await operate("create_event", {
      ...{ title: "Who wins?", category: "tests", exclusive: true },
    });
    const markets: string[] = [];
    for (let at = 0; at < 3; at++) markets.push(await makeMarket({ event_id }));
    const [ann, bob] = await exchange.makeTraders(2, { limits: [null, null, null] });
    for (const market of markets) await giveShares(market, ann, "yes", 4);
    for (const market of markets.slice(1)) await giveShares(market, bob, "no", 4);
    const resultOf = async (trader: string): Promise<{ cents: number; count: number }> => {
      await refresh();
      const { rows } = await exchange.database.pool.query(
        `select pl_cents::int as cents, realised_count::int as count from leaderboard.standings
       where window_kind = 'all' and category_id = 0 and user_public_id = $1`,
        [trader],
      );
      return rows[0] ?? { cents: 0, count: 0 };
    };

    const held = await Promise.all(markets.map((market) => exchange.position(market, ann, "yes")));
    const paid = held.reduce((sum, { cost, fees }) => sum + cost + fees, 0);
    await exchange.redeem(event_id, ann, 4);
    t.deepEqual(await resultOf(ann), { cents: 4 * 100 - paid, count: 3 });

    await exchange.convert(event_id, bob, markets.slice(1), 3);
    t.is((await resultOf(bob)).count, 2);
    t.deepEqual(await differences(), []);
  },
);
