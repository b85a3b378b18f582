import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import { committedDirectory } from "../../migrate/releases.ts";
import { migrateDatabase, migrationsDirectory } from "../../src/database/migrations.ts";
import { dropUnfinishedIndexes, runMigrations } from "../../src/database/run_migrations.ts";
import { withStartupOptions } from "../../src/database/session_settings.ts";
import { withClient } from "../helpers/database/test_database.ts";
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

/** Runs the migrations before this one. */
async function migrateUntil(connectionString: string, before: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-migrate-${process.pid}-`));
  try {
    await mkdir(join(directory, "committed"));
    await writeFile(join(directory, "current.sql"), "");
    for (const name of await readdir(committedDirectory)) {
      if (name >= before) continue;
      await copyFile(join(committedDirectory, name), join(directory, "committed", name));
    }
    await runMigrations({
      ...{ connectionString, migrationsFolder: directory },
      log: () => undefined,
      prepare: () => Promise.resolve(),
    });
  } finally {
    await rm(directory, { recursive: true });
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

  test("a cancel that a migration overtakes calls functions that are dropped after it", async (t) => {
    await besideAnother(facts, async (old, other) => {
      const { pool, connectionString } = old.database;
      await migrateUntil(connectionString, "000010");
      const valueOf = async (text: string, values: unknown[] = []): Promise<string> =>
        (await pool.query(`select (${text}) as value`, values)).rows[0].value;
      await pool.query("select admin.create_category('overtaken', 'Overtaken', 99)");
      const market = await valueOf(
        "admin.create_market(title => 'Overtaken', category => 'overtaken')",
      );
      const user = await valueOf("admin.create_user('over@example.com', 'over', 'over')");
      await pool.query("select admin.deposit($1, 1000, 'overtaken')", [user]);
      await pool.query("select admin.set_loss_limits($1, null, null, null)", [user]);
      const request = { marketId: market, userId: user, side: "yes", price: 10, quantity: 1 };
      const placed = await pool.query("select body from api.place_orders($1)", [
        JSON.stringify([request]),
      ]);
      const orderId = JSON.parse(placed.rows[0].body).order.id;

      await other.query(
        "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
        [market],
      );
      const cancelled = pool.query("select * from api.cancel_order($1, $2)", [user, orderId]);
      const waits = async (text: string) => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query ~ $1`,
          [text],
        );
        return rowCount! > 0;
      };
      await until("the cancel waits", () => waits("api.cancel_order"));
      const migrated = migrateDatabase(connectionString);
      await until("an index waits for it", () => waits("dead_man_switches_by_firing"));
      await other.query("rollback");
      t.is((await cancelled).rows[0].code, null);
      t.true((await migrated).length > 0);
      t.is(
        await valueOf("select status from trading.orders where public_id = $1", [orderId]),
        "cancelled",
      );
      await assertMigrated(t, old);
    });
  });

  test("an index that missed a lock is built anew", async (t) => {
    await besideAnother(facts, async (old, other) => {
      const { connectionString, pool } = old.database;
      const name = "000011-index-the-switches-that-fired.sql";
      await migrateUntil(connectionString, name);
      await other.query("lock table trading.dead_man_switches in row exclusive mode");
      const lines: string[] = [];
      await withClient(pool, (client) =>
        runMigrations({
          connectionString: withStartupOptions(connectionString, { lock_timeout: "300" }),
          migrationsFolder: migrationsDirectory,
          log: (line) => {
            lines.push(line);
            if (isMissedLock(line)) void other.query("commit");
          },
          prepare: () => dropUnfinishedIndexes(client, [join(committedDirectory, name)]),
        }),
      );
      t.is(lines.filter(isMissedLock).length, 1);
      const { rows } = await pool.query(
        `select indisvalid as valid from pg_index
         where indexrelid = 'trading.dead_man_switches_by_firing'::regclass`,
      );
      t.deepEqual(rows, [{ valid: true }]);
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
