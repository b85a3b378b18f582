import test from "ava";
import type { Pool } from "pg";
import { checkServerVersion, checkWritable } from "../../src/database/server_checks.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

const database = testDatabase(test);

/** A server that says that it has this version. */
function serverOf(number: number): Pool {
  const version = `${Math.floor(number / 10_000)}.${number % 10_000}`;
  const query = async () => ({ rows: [{ number: String(number), version }] });
  return { query } as unknown as Pool;
}

for (const number of [90_624, 140_022, 190_000]) {
  test(`server_version: ${number} is refused with a list of supported versions`, async (t) => {
    const error: any = await t.throwsAsync(checkServerVersion(serverOf(number)), {
      name: "DatabaseNotReadyError",
    });
    t.is(error.reason, "server_version");
    t.regex(
      error.message,
      /^The database server is PostgreSQL \d+\.\d+: pgmarkets needs 15 to 18$/,
    );
  });
}

for (const number of [150_000, 150_013, 180_004]) {
  test(`${number} is served`, async (t) => {
    t.regex(await checkServerVersion(serverOf(number)), /^1[58]\.\d+$/);
  });
}

test("read_only: a database that takes no writes is reported", async (t) => {
  await t.notThrowsAsync(checkWritable(database.pool));
  const client = await database.pool.connect();
  try {
    await client.query("begin read only");
    const error: any = await t.throwsAsync(checkWritable(client));
    t.is(error.reason, "read_only");
  } finally {
    await client.query("rollback");
    client.release();
  }
});
