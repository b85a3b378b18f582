import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** The loss limits of a moment: those that held, whatever was decided before or after it. */

const exchange = testExchange(test);

test("limits as they were: raises wait, and a later change replaces one that waits", async (t) => {
  const { clock, database, makeTrader, operate } = exchange;
  await clock.freeze("2030-01-01T00:00:00Z");
  const user = await makeTrader({ limits: [1000, 5000, null] });
  const set = async (at: string, day: number | null, immediate = false) => {
    await clock.freeze(`2030-01-${at}:00Z`);
    await operate("set_loss_limits", {
      ...{ user_id: user, day_cents: day, week_cents: 5000, month_cents: null, immediate },
    });
  };
  await set("03T10:00", 2000);
  await set("03T20:00", 3000);
  await set("06T10:00", 500);
  await set("07T10:00", null);
  await set("07T12:00", 600);
  await set("10T00:00", null, true);
  await set("12T00:00", 700);

  const pool = database.connectAs("exchange_analyst");
  const limitsAt = async (at: string) => {
    const { rows } = await pool.query(
      `select period, limit_cents from analytics.loss_limits
       where user_id = $1 and effective_from <= $2
         and coalesce(effective_until > $2, true)`,
      [user, `2030-01-${at}:00Z`],
    );
    return Object.fromEntries(rows.map(({ period, limit_cents: cents }) => [period, cents]));
  };
  const days: [at: string, day: number | null][] = [
    ["01T00:00", 1000],
    ["04T10:00", 1000],
    ["04T19:59", 1000],
    ["04T20:00", 3000],
    ["06T09:59", 3000],
    ["06T10:00", 500],
    ["08T10:00", 500],
    ["08T11:59", 500],
    ["08T12:00", 600],
    ["10T00:00", null],
    ["12T00:00", 700],
    ["30T00:00", 700],
  ];
  for (const [at, day] of days) {
    t.deepEqual(await limitsAt(at), { day, week: 5000, month: null }, at);
  }
});
