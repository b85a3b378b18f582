import test from "ava";
import { testDatabase } from "../helpers/database/test_database.ts";

const database = testDatabase(test);

async function value(expression: string): Promise<unknown> {
  return (await database.pool.query(`select ${expression} as value`)).rows[0].value;
}

test("bigint is read as a number if the number is exact", async (t) => {
  t.is(await value("42::bigint"), 42);
  t.is(await value("9007199254740991::bigint"), Number.MAX_SAFE_INTEGER);
  t.is(await value("null::bigint"), null);
  t.deepEqual(await value("array[1, null, -3]::bigint[]"), [1, null, -3]);
});

test("a bigint that a number can't hold is an error, not another number", async (t) => {
  await t.throwsAsync(value("9007199254740992::bigint"), { instanceOf: RangeError });
  await t.throwsAsync(value("array[9007199254740992]::bigint[]"), { instanceOf: RangeError });
});

test("timestamps are Dates, dates are text, json is parsed", async (t) => {
  t.deepEqual(await value("timestamptz '2030-01-02 03:04:05.678+00'"), new Date(1893553445678));
  t.is(await value("date '2030-01-02'"), "2030-01-02");
  t.deepEqual(await value(`'{"a": [1, null]}'::jsonb`), { a: [1, null] });
  t.is(await value("1.50::numeric"), "1.50");
});
