import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { makeMarket, makeMarketWith, makeTraders, operate, rest } = exchange;

test("55P03: a call that holds users does not wait for a user that it meets later", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  await rest(market, bob, buy("no", 10, 41));
  await rest(market, cid, buy("no", 10, 40));
  await operate("withdraw", { user_id: bob, amount_cents: 100_000, reference: "all" });

  const holder = await exchange.database.pool.connect();
  const taker = await exchange.api.connect();
  t.teardown(async () => {
    for (const client of [taker, holder]) {
      await client.query("rollback");
      client.release();
    }
  });
  await holder.query("begin");
  await holder.query(`select from trading.traders as t where t.public_id = $1 for no key update`, [
    cid,
  ]);
  await taker.query("begin");
  // Were it to wait, that would end it with 57014.
  await taker.query("set local statement_timeout = '20s'");
  const request = { marketId: market, userId: ann, ...buy("yes", 10, 60) };
  const error = await t.throwsAsync(
    taker.query("select api.place_orders($1)", [JSON.stringify([request])]),
  );
  t.is((error as { code?: string }).code, "55P03");
});

for (const [what, quantity] of [
  ["several makers", 15],
  ["one maker", 5],
] as const) {
  test(`a call that meets ${what} waits for a user without holding one of a higher account`, async (t) => {
    const market = await makeMarket();
    const [ann, bob] = (await byAccount(await makeTraders(2))) as [string, string];
    await rest(market, bob, buy("no", 10, 41), buy("no", 10, 41));

    const holder = await exchange.database.pool.connect();
    const lock = (user: string, how = "") =>
      holder.query(
        `select from trading.traders as t where t.public_id = $1 for no key update ${how}`,
        [user],
      );
    try {
      await holder.query("begin");
      await lock(ann);
      const placed = exchange.place(market, ann, buy("yes", quantity, 60));
      await aWaiterFor(holder);
      await t.notThrowsAsync(lock(bob, "nowait"));
      await holder.query("rollback");
      t.is((await placed).order.filledQuantity, quantity);
    } finally {
      await holder.query("rollback");
      holder.release();
    }
  });
}

/** Traders in ascending order of their accounts. */
async function byAccount(traders: string[]): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    `select t.public_id as id from trading.traders as t
     where t.public_id = any ($1)
     order by t.user_id`,
    [traders],
  );
  return rows.map(({ id }) => id);
}

/** Resolves when some transaction waits for that of a client. */
async function aWaiterFor(holder: PoolClient): Promise<void> {
  const { rows } = await holder.query("select pg_backend_pid() as pid");
  for (;;) {
    const { rowCount } = await exchange.database.pool.query(
      "select from pg_stat_activity as a where $1 = any (pg_blocking_pids(a.pid))",
      [rows[0].pid],
    );
    if (rowCount) return;
  }
}
