import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { until } from "../helpers/until.ts";
import { listFixtures, restoreFixture } from "./fixture.ts";
import type { Facts, OldVersion } from "./fixture.ts";

/** Migrations that meet the locks of others, or what a killed run left. */

const facts = (await listFixtures()).at(-1);

/** A database of the last released version, and a transaction of somebody else in it. */
async function besideAnother(
  facts: Facts,
  work: (old: OldVersion, other: pg.Client) => Promise<void>,
): Promise<void> {
  const old = await restoreFixture(facts);
  const other = new pg.Client({ connectionString: old.database.connectionString });
  try {
    await other.connect();
    await other.query("begin");
    await work(old, other);
  } finally {
    await other.end();
    await old.destroy();
  }
}

const isMissedLock = (line: string) => line.startsWith("the migration missed a lock");

async function assertMigrated(t: ExecutionContext, { database }: OldVersion): Promise<void> {
  t.deepEqual(await migrateDatabase(database.connectionString), []);
  t.deepEqual((await database.pool.query("select * from ledger.verify()")).rows, []);
}

if (facts !== undefined) {
  test("a migration that waits too long for a lock is run again", async (t) => {
    await besideAnother(facts, async (old, other) => {
      await other.query("lock table trading.outbox in row exclusive mode");
      const lines: string[] = [];
      const migrated = migrateDatabase(old.database.connectionString, (line) => {
        lines.push(line);
        if (isMissedLock(line)) void other.query("commit");
      });
      t.true((await migrated).length > 0);
      t.deepEqual(lines.filter(isMissedLock), [
        "the migration missed a lock (canceling statement due to lock timeout), and is run again",
      ]);
      await assertMigrated(t, old);
    });
  });

  test("a deadlock of a migration and a command costs one of them a repetition", async (t) => {
    await besideAnother(facts, async (old, other) => {
      const { pool, connectionString } = old.database;
      // Against the order in which the migration takes them.
      await other.query("lock table trading.outbox in row exclusive mode");
      const lines: string[] = [];
      const migrated = migrateDatabase(connectionString, (line) => lines.push(line));
      await until("the migration waits", async () => {
        const { rowCount } = await pool.query(
          "select from pg_locks where not granted and relation = 'trading.outbox'::regclass",
        );
        return rowCount === 1;
      });
      const command = await other
        .query("lock table trading.idempotency_keys in row exclusive mode")
        .then(
          () => "went on",
          (error: unknown) => (error as Error).message,
        );
      await other.query("commit");
      t.true((await migrated).length > 0);
      t.deepEqual(
        [command, ...lines.filter(isMissedLock)],
        command === "went on"
          ? [command, "the migration missed a lock (deadlock detected), and is run again"]
          : ["deadlock detected"],
      );
      await assertMigrated(t, old);
    });
  });

  test("an index that a killed run left unfinished is built anew", async (t) => {
    await besideAnother(facts, async (old) => {
      const { pool } = old.database;
      await pool.query("create index trades_of_a_taker on trading.trades (price)");
      await pool.query(
        `update pg_index set indisvalid = false
         where indexrelid = 'trading.trades_of_a_taker'::regclass`,
      );
      t.true((await migrateDatabase(old.database.connectionString)).length > 0);
      const { rows } = await pool.query(
        `select indisvalid as valid, pg_get_indexdef(indexrelid) as definition from pg_index
         where indexrelid = 'trading.trades_of_a_taker'::regclass`,
      );
      t.true(rows[0].valid);
      t.regex(rows[0].definition, /\(taker_user_id, id\)$/);
      await assertMigrated(t, old);
    });
  });
}
