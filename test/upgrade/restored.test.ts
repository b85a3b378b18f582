import test from "ava";
import { migrateDatabase, pendingMigrations } from "../../src/database/migrations.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { schemaFingerprint } from "../helpers/database/schema_fingerprint.ts";
import { findMissing, listFixtures, restoreFixture } from "./fixture.ts";
import { cashCents, differences, none } from "./checks.ts";

/** Databases of released versions, migrated to what this version is. */

const fixtures = await listFixtures();

/** Rows that only migrations write: operators and traders change none of them. */
const rowsOfTheSchema = "row core.error_codes:";

/** The lines that a database's use does not change; `partitions` are made by the archive. */
async function linesOfSchema({ pool }: OwnDatabase): Promise<string[]> {
  const { rows } = await pool.query("select relname as name from pg_class where relispartition");
  const partitions: string[] = rows.map(({ name }) => name);
  const lines = await schemaFingerprint(pool);
  return lines
    .filter((line) => !line.startsWith("row ") || line.startsWith(rowsOfTheSchema))
    .filter((line) => !partitions.some((name) => line.includes(name)));
}

for (const facts of fixtures) {
  test(`${facts.version}: a database that was in use gets the schema of db/`, async (t) => {
    const [old, described] = await Promise.all([restoreFixture(facts), createDatabase()]);
    const { pool, connectionString } = old.database;
    const assertSound = async () => {
      t.deepEqual((await pool.query("select * from ledger.verify()")).rows, []);
      t.is(await cashCents(pool), facts.cashCents);
    };
    try {
      t.deepEqual(await findMissing(pool), []);
      await assertSound();

      const later = await pendingMigrations(pool);
      t.deepEqual(await migrateDatabase(connectionString), later);
      const [inFiles, migrated] = [
        await linesOfSchema(described),
        await linesOfSchema(old.database),
      ];
      t.true(inFiles.some((line) => line.startsWith(rowsOfTheSchema)));
      t.deepEqual(differences(inFiles, migrated), none);
      await assertSound();
    } finally {
      await Promise.all([old.destroy(), described.drop()]);
    }
  });
}

test("there is a version to upgrade from", (t) => {
  t.true(fixtures.length > 0);
});
