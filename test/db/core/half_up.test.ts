import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

for (const [numerator, denominator, rounded] of [
  [0, 7, 0],
  [1, 2, 1],
  [1, 3, 0],
  [2, 3, 1],
  [3, 2, 2],
  [5, 2, 3],
  [499, 1000, 0],
  [500, 1000, 1],
  [99, 1, 99],
  [2_000_000_000_000_000, 4_000_000_000_000_000, 1],
] as const) {
  test(`${numerator} / ${denominator} is ${rounded}`, async (t) => {
    const { rows } = await database.pool.query("select core.half_up($1, $2) as rounded", [
      numerator,
      denominator,
    ]);
    t.is(rows[0].rounded, rounded);
  });
}
