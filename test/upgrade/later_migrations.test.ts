import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { createDatabase } from "../helpers/database/test_database.ts";
import { schemaFingerprint } from "../helpers/database/schema_fingerprint.ts";
import { buildSchema } from "../helpers/database/schema.ts";
import { findSquawk, squawk } from "../helpers/processes/squawk.ts";
import { differences, none } from "./checks.ts";
import { makeLaterVersion, runIn } from "./later_version.ts";

/** Migrations after the first, made as docs/development.md says. */

test("changed files and SQL written by hand become migrations to the schema of db/", async (t) => {
  const [later, built, migrated] = await Promise.all([
    makeLaterVersion(),
    createDatabase({ empty: true }),
    createDatabase({ empty: true }),
  ]);
  try {
    t.is(later.added.length, 2);
    const current = await readFile(join(later.directory, "migrate", "current.sql"), "utf8");
    t.regex(current, /^-- Write the next migration here/);

    const client = await built.pool.connect();
    await buildSchema(client, join(later.directory, "db"));
    client.release();
    const { code, output } = await runIn(later.directory, "src/bin/migrate.ts", [], {
      DATABASE_URL: migrated.connectionString,
    });
    t.is(code, 0, output);
    const lines = await schemaFingerprint(migrated.pool);
    t.deepEqual(differences(lines, await schemaFingerprint(built.pool)), none);
    t.true(lines.some((line) => line.startsWith("column trading.active_orders.note:")));
    t.true(lines.some((line) => line.startsWith("index") && line.includes("trades_by_time")));
    t.true(lines.some((line) => line.includes("-- Of a later version.")));

    for (const name of findSquawk() === undefined ? [] : later.added) {
      const path = join(later.directory, "migrate", "committed", name);
      t.deepEqual(squawk(await readFile(path, "utf8")), [], name);
    }
  } finally {
    await Promise.all([later.destroy(), built.drop(), migrated.drop()]);
  }
});
