import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

for (const [rate, weight, cents] of [
  [700, 0, 0],
  [700, 100 * 50 * 50, 175],
  [700, 1 * 50 * 50, 2],
  [700, 1 * 99, 1],
  [0, 10_000 * 50 * 50, 0],
  [1, 1_000_000, 1],
  [1, 1_000_001, 2],
  [10_000, 10_000 * 50 * 50, 250_000],
] as const) {
  test(`${rate} bps of a weight of ${weight} are ${cents} cents`, async (t) => {
    const { rows } = await database.pool.query("select trading.fee_cents($1, $2) as cents", [
      rate,
      weight,
    ]);
    t.is(rows[0].cents, cents);
  });
}
