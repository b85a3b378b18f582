import test from "ava";
import { migrateDatabase } from "../../../src/database/migrations.ts";
import { createDatabase } from "../../helpers/database/test_database.ts";
import type { OwnDatabase } from "../../helpers/database/test_database.ts";

/**
 * Logical replication carries an update or a delete only if it can name the row. Without a replica
 * identity, PostgreSQL rejects such a statement as soon as the table is published.
 */

let database: OwnDatabase;

test.before("a database as npm run migrate makes it, with all schemas", async () => {
  database = await createDatabase({ empty: true });
  await migrateDatabase(database.connectionString);
  await database.pool.query("select jobs.make_event_partitions()");
  await database.pool.query("select trading.make_archive_partition(core.now())");
});
test.after.always("drop it", async () => {
  await database.drop();
});

async function tables(where: string): Promise<string[]> {
  const { rows } = await database.pool.query(
    `select c.oid::regclass::text as name
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)' and (${where})`,
  );
  return rows.map(({ name }) => name).sort();
}

test("every logged table, also of other packages, has a replica identity", async (t) => {
  const all = await tables("true");
  for (const schema of ["graphile_migrate", "graphile_worker", "installer", "trading"]) {
    t.true(
      all.some((name) => name.startsWith(`${schema}.`)),
      schema,
    );
  }
  const hasIdentity = `
    case c.relreplident
      when 'f' then true
      when 'd' then exists (
        select from pg_index as i where i.indrelid = c.oid and i.indisprimary and i.indisvalid
      )
      when 'i' then exists (
        select from pg_index as i where i.indrelid = c.oid and i.indisreplident and i.indisvalid
      )
      else false
    end`;
  // A partitioned table has no rows: what is sent of its partitions is named by their identities.
  const hasRows = "c.relkind = 'r' and c.relpersistence = 'p'";
  t.true((await tables(hasRows)).some((name) => name.startsWith("trading.archived_orders_")));
  t.deepEqual(await tables(`${hasRows} and not (${hasIdentity})`), []);
});

test("the tables that are not replicated are these", async (t) => {
  t.deepEqual(await tables("c.relpersistence <> 'p'"), [
    "core.processes",
    "identity.passkey_challenges",
    "identity.session_tokens",
    "rate_limits.allowances",
    "rate_limits.grants",
    "rate_limits.open_streams",
    "rate_limits.stream_leases",
    "rate_limits.windows",
  ]);
});
