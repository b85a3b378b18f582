import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

test("times are written in UTC with milliseconds, whatever the session's zone", async (t) => {
  await database.withRollback(async (client) => {
    await client.query("set local timezone = 'Asia/Kolkata'");
    const { rows } = await client.query(
      "select core.iso8601('2030-01-02 03:04:05.678999+02') as text, core.iso8601(null) as nothing",
    );
    t.is(rows[0].text, "2030-01-02T01:04:05.678Z");
    t.is(rows[0].nothing, null);
  });
});
