import test from "ava";
import { pendingMigrations } from "../../src/database/migration_state.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { version } from "../../src/version.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { schemaFingerprint } from "../helpers/database/schema_fingerprint.ts";

/** Enough of a difference to see what it is about. */
const MOST_LINES = 30;

const opened: OwnDatabase[] = [];

async function open(options?: { empty: boolean }): Promise<OwnDatabase> {
  const database = await createDatabase(options);
  opened.push(database);
  return database;
}

test.after.always("drop the databases", async () => {
  await Promise.all(opened.map((database) => database.drop()));
});

test("the migrations build the schema that db/ describes", async (t) => {
  const [described, migrated] = await Promise.all([open(), open({ empty: true })]);
  await migrateDatabase(migrated.connectionString);

  const inFiles = await schemaFingerprint(described.pool);
  const inMigrations = await schemaFingerprint(migrated.pool);
  t.true(inFiles.length > 100, "the fingerprint saw the schema");

  const onlyIn = (some: string[], others: string[]) => {
    const known = new Set(others);
    const lines = some.filter((line) => !known.has(line));
    const more = lines.length - MOST_LINES;
    return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more`] : lines;
  };
  t.deepEqual(
    {
      "only in db/ (npm run migrate:commit ships it)": onlyIn(inFiles, inMigrations),
      "only in migrate/committed/": onlyIn(inMigrations, inFiles),
    },
    { "only in db/ (npm run migrate:commit ships it)": [], "only in migrate/committed/": [] },
  );
});

test("processes that migrate one database at the same moment take turns", async (t) => {
  const database = await open({ empty: true });
  const before = await pendingMigrations(database.pool);
  t.true(before.length > 0);
  const ran = await Promise.all([1, 2, 3].map(() => migrateDatabase(database.connectionString)));
  t.deepEqual(ran.flat(), [...before, `the functions of ${version}`], "each ran once");
  t.deepEqual(await pendingMigrations(database.pool), []);
  t.deepEqual(await migrateDatabase(database.connectionString), []);
});

test("a database that another version has migrated is refused", async (t) => {
  const database = await open({ empty: true });
  await migrateDatabase(database.connectionString);
  await database.pool.query(
    "insert into graphile_migrate.migrations (hash, filename) values ('sha1:0', '999999.sql')",
  );
  await t.throwsAsync(pendingMigrations(database.pool), {
    name: "DatabaseNotReadyError",
    message: /999999\.sql/,
  });
});

test("a server's login, which owns nothing, can see that nothing is pending", async (t) => {
  const database = await open({ empty: true });
  await migrateDatabase(database.connectionString);
  t.deepEqual(await pendingMigrations(database.connectAs("exchange_api")), []);
  t.deepEqual(await pendingMigrations(database.connectAs("exchange_worker")), []);
});
