import test from "ava";
import { testDatabase } from "../helpers/database/test_database.ts";

const database = testDatabase(test);

async function databaseNow(pool = database.pool): Promise<Date> {
  const { rows } = await pool.query("select core.now() as now");
  return rows[0].now;
}

test.serial(
  "the test clock stands where it is put, moves on when told, and goes back",
  async (t) => {
    t.true(Math.abs((await databaseNow()).getTime() - Date.now()) < 10_000);

    const noon = new Date("2030-01-01T12:00:00Z");
    await database.clock.freeze(noon);
    t.deepEqual(await databaseNow(), noon);
    await database.clock.advance(1500);
    t.deepEqual(await databaseNow(), new Date("2030-01-01T12:00:01.500Z"));

    await database.clock.release();
    await database.clock.advance(3_600_000);
    const ahead = (await databaseNow()).getTime() - Date.now();
    t.true(ahead > 3_590_000 && ahead < 3_610_000);

    await database.clock.release();
    t.true(Math.abs((await databaseNow()).getTime() - Date.now()) < 10_000);
  },
);

test.serial("only the owner of the test clock can set it", async (t) => {
  await database.clock.release();
  const api = database.connectAs("exchange_api");
  await t.throwsAsync(api.query("update test_clock.setting set ahead = '1 day'"), {
    code: "42501",
  });
});

test.serial("inside a rolled-back transaction the clock is left as it was", async (t) => {
  await database.withRollback(async (client) => {
    const { rows } = await client.query("select current_user as role");
    t.is(rows[0].role, "exchange_analyst");
  }, "exchange_analyst");
});
