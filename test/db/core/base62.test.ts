import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

async function base62(number: string, width: number): Promise<string> {
  const { rows } = await database.pool.query("select core.base62($1::numeric, $2) as text", [
    number,
    width,
  ]);
  return rows[0].text;
}

test("digits come in the order 0-9, A-Z, a-z", async (t) => {
  t.is(await base62("0", 1), "0");
  t.is(await base62("9", 1), "9");
  t.is(await base62("10", 1), "A");
  t.is(await base62("35", 1), "Z");
  t.is(await base62("36", 1), "a");
  t.is(await base62("61", 1), "z");
  t.is(await base62("62", 1), "10");
});

test("it is padded to its width and never cut to it", async (t) => {
  t.is(await base62("0", 4), "0000");
  t.is(await base62("62", 4), "0010");
  t.is(await base62("3844", 2), "100");
});

test("32 bytes fit into 43 digits", async (t) => {
  const largest = (2n ** 256n - 1n).toString();
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const text = await base62(largest, 43);
  t.is(text.length, 43);
  const back = Array.from(text).reduce(
    (sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)),
    0n,
  );
  t.is(back.toString(), largest);
});
