import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

test("identifiers are UUIDs of version 7 that carry the millisecond they were made in", async (t) => {
  const from = Date.now();
  const { rows } = await database.pool.query(
    "select core.uuid_v7()::text as id from generate_series(1, 1000)",
  );
  const until = Date.now();
  const ids: string[] = rows.map((row) => row.id);
  t.is(new Set(ids).size, 1000);
  for (const id of ids) {
    t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
    t.true(ms >= from - 1000 && ms <= until + 1000);
  }
});
