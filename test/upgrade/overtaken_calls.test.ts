import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import pg from "pg";
import { migrationsDirectory, pendingMigrations } from "../../src/database/migrations.ts";
import { until } from "../helpers/until.ts";
import { listFixtures, restoreFixture } from "./fixture.ts";

/**
 * A call of the version before that a migration overtakes: its function has begun, and what this
 * calls is new. The order of each market must not meet the book of another.
 */

for (const facts of await listFixtures()) {
  test(`${facts.version}: a call that the migrations overtake places its orders right`, async (t) => {
    const old = await restoreFixture(facts);
    const { pool, connectionString } = old.database;
    const valueOf = async (text: string, values: unknown[] = []) =>
      (await pool.query(`select (${text}) as value`, values)).rows[0].value as string;
    const trader = new pg.Client({ connectionString });
    const migration = new pg.Client({ connectionString });
    await Promise.all([trader.connect(), migration.connect()]);
    try {
      await pool.query("select admin.create_category('overtaken', 'Overtaken', 99)");
      const makeMarket = (title: string) =>
        valueOf("admin.create_market(title => $1, category => 'overtaken')", [title]);
      const makeTrader = async (name: string) => {
        const id = await valueOf("admin.create_user($1, $2, $2)", [`${name}@example.com`, name]);
        await pool.query("select admin.deposit($1, 100000, 'overtaken')", [id]);
        await pool.query("select admin.set_loss_limits($1, null, null, null)", [id]);
        return id;
      };
      const [cheap, dear, other] = [
        await makeMarket("Cheap"),
        await makeMarket("Dear"),
        await makeMarket("Other"),
      ];
      const [maker, taker] = [await makeTrader("over-maker"), await makeTrader("over-taker")];
      const place = async (...orders: [string, string, string, number, number][]) => {
        const requests = orders.map(([marketId, userId, side, price, quantity]) => ({
          ...{ marketId, userId, side, price, quantity },
        }));
        const { rows } = await trader.query("select * from api.place_orders($1)", [
          JSON.stringify(requests),
        ]);
        return rows.map(({ code, body }) => ({ code, ...JSON.parse(body ?? "{}") }));
      };
      // YES is for sale at 10 in one market and at 90 in the other.
      await place([cheap, maker, "no", 90, 10], [other, maker, "no", 10, 1]);
      await place([dear, maker, "no", 10, 10], [other, maker, "no", 10, 1]);

      // The call stops at its first look at the markets, until the migrations have committed.
      await migration.query("begin");
      await migration.query("lock table catalog.markets in access exclusive mode");
      const placed = place([cheap, taker, "yes", 5, 1], [dear, taker, "yes", 95, 10]);
      await until("the call waits", async () => {
        const { rowCount } = await pool.query(
          "select from pg_locks where not granted and relation = 'catalog.markets'::regclass",
        );
        return rowCount === 1;
      });
      for (const filename of await pendingMigrations(pool)) {
        const text = await readFile(join(migrationsDirectory, "committed", filename), "utf8");
        if (!text.includes("--! no-transaction")) await migration.query(text);
        // An index that is made beside the traffic changes no function, and waits for the call.
        else if (!text.includes("concurrently")) await pool.query(text);
      }
      await migration.query("commit");

      const [first, second] = await placed;
      t.like(first, { code: null, order: { marketId: cheap, status: "open" } });
      t.like(second, { code: null, order: { marketId: dear, status: "filled" } });
      t.like(second.fills[0], { price: 90, quantity: 10, marketId: dear });
      t.deepEqual((await pool.query("select * from ledger.verify()")).rows, []);
    } finally {
      await Promise.all([trader.end(), migration.end()]);
      await old.destroy();
    }
  });
}
