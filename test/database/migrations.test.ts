import test from "ava";
import type { Pool } from "pg";
import { pendingMigrations } from "../../src/database/migration_state.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { checkDatabase } from "../../src/database/readiness.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

const database = testDatabase(test, { empty: true });

test.serial("migrations_missing: an empty database, and one that lacks the last", async (t) => {
  const refused = async () => {
    const error: any = await t.throwsAsync(checkDatabase(database.pool));
    t.is(error.reason, "migrations_missing");
    return error.message;
  };
  const message =
    /^The database lacks \d+ migration\(s\), from 0\d+.*\.sql on: run npm run migrate/;
  t.regex(await refused(), message);
  await migrateDatabase(database.connectionString);
  const { server, schema } = await checkDatabase(database.pool);
  t.regex(server, /^1\d\.\d/);
  t.regex(schema, /^0\d+.*\.sql$/);

  await withChange(
    "delete from graphile_migrate.migrations where filename = (select max(filename) from graphile_migrate.migrations)",
    async () => {
      t.regex(await refused(), message);
    },
  );
});

test.serial("a check of the database reads once which migrations it has had", async (t) => {
  await migrateDatabase(database.connectionString);
  const statements: string[] = [];
  const query = (text: string) => {
    statements.push(text);
    return database.pool.query(text);
  };
  await checkDatabase({ query } as unknown as Pool);
  t.is(statements.filter((text) => text.includes("graphile_migrate.migrations")).length, 1);
});

test.serial("a run that was killed before its grants is finished by the next one", async (t) => {
  const { connectionString, pool } = database;
  await migrateDatabase(connectionString);
  const roles = ["exchange_api", "exchange_worker", "exchange_owner"];
  await pool.query(`revoke all on schema graphile_migrate from ${roles.join()}`);
  await pool.query(`revoke all on graphile_migrate.migrations from ${roles.join()}`);
  const mayLook = async () => {
    const { rows } = await pool.query(
      `select has_schema_privilege(role, 'graphile_migrate', 'usage')
         and has_table_privilege(role, 'graphile_migrate.migrations', 'select') as may
       from unnest($1::text[]) as role`,
      [roles],
    );
    return rows.map(({ may }) => may);
  };
  t.true((await mayLook()).includes(false));
  t.deepEqual(await migrateDatabase(connectionString), []);
  t.deepEqual(await mayLook(), [true, true, true]);

  const rowVersions = "select xmin::text from pg_class where relname = 'migrations'";
  const before = await pool.query(rowVersions);
  await migrateDatabase(connectionString);
  t.deepEqual((await pool.query(rowVersions)).rows, before.rows, "nothing is granted again");
});

test.serial("migrations_unknown: a later version is not migrated, but can be used", async (t) => {
  await withChange(
    `insert into graphile_migrate.migrations (hash, previous_hash, filename, date)
     values ('sha1:later', null, '999999.sql', now())`,
    async () => {
      const error: any = await t.throwsAsync(pendingMigrations(database.pool));
      t.is(error.reason, "migrations_unknown");
      t.regex(error.message, /999999\.sql .* belongs to another version/);
      const { schema } = await checkDatabase(database.pool);
      t.is(schema, "999999.sql");
    },
  );
});

/** What has run according to the database is another for a while. */
async function withChange(change: string, work: () => Promise<void>) {
  const { pool } = database;
  await pool.query("create table public.kept as table graphile_migrate.migrations");
  await pool.query(change);
  try {
    await work();
  } finally {
    await pool.query("truncate graphile_migrate.migrations");
    await pool.query("insert into graphile_migrate.migrations select * from public.kept");
    await pool.query("drop table public.kept");
  }
}
