import test from "ava";
import pg from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);

/** What a session has compiled and planned, as PostgreSQL counts the memory that holds it. */
async function plansOf(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query(
    `select name, count(*)::int as count
     from pg_backend_memory_contexts
     where name in ('CachedPlanSource', 'PL/pgSQL function')
     group by name`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function onNewConnection(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: exchange.database.connectionString });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Orders that rest, that fill once and twice, of a batch, and what else traders do. */
async function trade(client: pg.Client, market: string, maker: string, taker: string) {
  const place = async (userId: string, ...orders: object[]) => {
    const requests = orders.map((order) => ({
      marketId: market,
      userId,
      side: "yes",
      quantity: 5,
      ...order,
    }));
    const { rows } = await client.query("select code, body from api.run_orders($1)", [
      JSON.stringify(requests),
    ]);
    for (const { code, body } of rows) if (code !== null) throw new Error(`${code} ${body}`);
    return JSON.parse(rows[0].body).order.id as string;
  };
  const first = await place(maker, { side: "no", price: 40 });
  await place(maker, { side: "no", price: 41 });
  await place(taker, { price: 60, quantity: 1 });
  await place(taker, { price: 60, quantity: 7 });
  await place(taker, { price: 3 }, { price: 4 });
  await client.query("select api.run_command('amend', $1, $2, price => 39)", [maker, first]);
  await client.query("select api.run_command('cancel', $1, $2)", [maker, first]);
  await client.query("select api.run_command('split', $1, market_id => $2, quantity => 1)", [
    maker,
    market,
  ]);
  await client.query("select api.run_command('merge', $1, market_id => $2, quantity => 1)", [
    maker,
    market,
  ]);
}

test.serial(
  "a connection that is warm compiles and plans nothing more for its first orders",
  async (t) => {
    const [market, maker] = await exchange.makeMarketWith(1);
    const taker = await exchange.makeTrader({ limits: [50_000, null, null] });
    await onNewConnection(async (client) => {
      await client.query("select api.warm_up()");
      const warm = await plansOf(client);
      t.true(warm["PL/pgSQL function"]! > 20);
      await trade(client, market, maker, taker);
      const after = await plansOf(client);
      t.is(after["PL/pgSQL function"], warm["PL/pgSQL function"]);
      // A statement that the rehearsal had no occasion for is no matter; a tenth of them would be.
      t.true(after.CachedPlanSource! <= warm.CachedPlanSource! * 1.1);
    });
    await onNewConnection(async (client) => {
      const cold = await plansOf(client);
      await trade(client, market, maker, taker);
      t.true((await plansOf(client))["PL/pgSQL function"]! > (cold["PL/pgSQL function"] ?? 0) + 20);
    });
  },
);

for (const call of ["api.warm_up", "jobs.warm_up"]) {
  test.serial(`${call} leaves no rows and waits for no lock`, async (t) => {
    await exchange.makeMarket();
    const before = await exchange.dump();
    await exchange.withRollback(async (blocker) => {
      // Whatever commands lock besides their own market and traders.
      await blocker.query("select from ledger.outside_world for update");
      await blocker.query("select from catalog.categories for update");
      await onNewConnection(async (client) => {
        await client.query("set lock_timeout = '2s'");
        await client.query(`select ${call}()`);
      });
    });
    t.deepEqual(await exchange.dump(), before);
  });
}

test.serial("it works while trading is paused", async (t) => {
  await exchange.operate("set_trading_pause", { paused: true, reason: "a test" });
  await onNewConnection(async (client) => {
    await t.notThrowsAsync(client.query("select api.warm_up()"));
    await t.notThrowsAsync(client.query("select jobs.warm_up()"));
  });
  await exchange.operate("set_trading_pause", { paused: false });
});
