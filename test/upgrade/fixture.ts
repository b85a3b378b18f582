import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Pool } from "pg";
import pg from "pg";
import type { migrateDatabase } from "../../src/database/migrations.ts";
import { committedDirectory } from "../../migrate/releases.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { rootDirectory } from "../helpers/repository.ts";
import type { World } from "./history.ts";

/** What is kept of released versions, by `npm run release:fixture` (make_fixture.ts). */

const fixturesDirectory = join(import.meta.dirname, "fixtures");

/** What the tests have to know of a dump. */
export interface Facts extends World {
  version: string;
  /** The names of the migrations that it had. */
  migrations: string[];
  /** In the order of the traders. */
  apiKeys: string[];
}

/** The files that are kept of a version. */
export function fixtureFiles(version: string) {
  const base = join(fixturesDirectory, `v${version.replaceAll(".", "_")}`);
  return {
    dump: `${base}.dump.sql.gz`,
    facts: `${base}.facts.json`,
    server: `${base}.server.tar.gz`,
  };
}

/** The versions that are kept, from the oldest. */
export async function listFixtures(): Promise<Facts[]> {
  const names = (await readdir(fixturesDirectory)).filter((name) => name.endsWith(".facts.json"));
  const facts = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(fixturesDirectory, name), "utf8");
      return JSON.parse(text) as Facts;
    }),
  );
  return facts.sort((a, b) => a.version.localeCompare(b.version, "en", { numeric: true }));
}

/** A released version: its files in a temporary folder, and a database that it has served. */
export interface OldVersion {
  directory: string;
  database: OwnDatabase;
  destroy: () => Promise<void>;
}

/**
 * Unpacks that version, with the dependencies of this checkout, has it migrate an empty database,
 * and puts the kept rows into it. Its migrations are those of this checkout, which are frozen.
 */
export async function restoreFixture(facts: Facts): Promise<OldVersion> {
  const directory = await unpack(facts);
  const database = await createDatabase({ empty: true });
  const destroy = async () => {
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const old = (await import(join(directory, "src/database/migrations.ts"))) as Migrations;
    await old.migrateDatabase(database.connectionString);
    await load(database, fixtureFiles(facts.version).dump);
    return { directory, database, destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

interface Migrations {
  migrateDatabase: typeof migrateDatabase;
}

async function unpack({ version, migrations }: Facts): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-upgrade-${process.pid}-`));
  const args = ["-xzf", fixtureFiles(version).server, "-C", directory];
  const { status, stderr } = spawnSync("tar", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tar failed: ${stderr}`);
  await symlink(join(rootDirectory, "node_modules"), join(directory, "node_modules"));
  const committed = join(directory, "migrate", "committed");
  await mkdir(committed, { recursive: true });
  for (const name of migrations)
    await copyFile(join(committedDirectory, name), join(committed, name));
  return directory;
}

/** Puts the rows of a dump into a migrated database, in place of those that it has. */
async function load({ connectionString }: OwnDatabase, path: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    const { rows } = await client.query(
      `select string_agg(c.oid::regclass::text, ', ') as tables
       from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and n.nspname !~ '^pg_|^information_schema$'`,
    );
    // Foreign keys and triggers, which saw the rows when they were written, don't ask again.
    await client.query("set session_replication_role = replica");
    await client.query(`truncate ${rows[0].tables}`);
    await client.query("drop schema graphile_worker cascade");
    await client.query(gunzipSync(await readFile(path)).toString());
    await client.query("analyze");
  } finally {
    await client.end();
  }
}

/** What a database in use has, as queries that find a row. */
const presence: Record<string, string> = {
  ...Object.fromEntries(
    ["open", "paused", "closed", "resolved"].map((status) => [
      `a market that is ${status}`,
      `select from catalog.markets where status = '${status}'`,
    ]),
  ),
  ...Object.fromEntries(
    ["scheduled", "open", "partially_filled", "filled", "cancelled"].map((status) => [
      `an order that is ${status}`,
      `select from trading.orders where status = '${status}'`,
    ]),
  ),
  "a live event": "select from catalog.events where live",
  "an order that expired": "select from trading.orders where cancel_reason = 'expired'",
  "an archived order": "select from trading.archived_orders",
  "an order by budget": "select from trading.orders where budget_cents is not null",
  "a sale": "select from trading.orders where order_type = 'sell' and filled_quantity > 0",
  "an amended order": "select from trading.order_reductions",
  "complete sets": "select from trading.set_conversions",
  "a settlement": "select from trading.settlements",
  "a correction": "select from trading.resolutions where corrects_resolution_id is not null",
  "a withdrawal": "select from ledger.cash_movements where kind = 'withdrawal'",
  "a limit": "select from trading.traders where day_limit_cents is not null",
  "a frozen user": "select from trading.traders where frozen_at is not null",
  "an excluded user": "select from trading.traders where excluded_until is not null",
  "an API key": "select from identity.api_keys",
  "a session": "select from identity.sessions",
  "a staff key": "select from identity.staff_keys",
  "an idempotency key": "select from trading.idempotency_keys",
  "an event that is not sent": "select from trading.outbox",
  "a sent event": "select from trading.sent_events",
  "a standing": "select from leaderboard.standings",
  "a verification": "select from ledger.verifications",
  "an audited call": "select from admin.audit_log",
  "a migration": "select from graphile_migrate.migrations",
  "a queue of jobs": "select from graphile_worker._private_known_crontabs",
};

/** What a database in use has and this one lacks. */
export async function findMissing(pool: Pool): Promise<string[]> {
  const missing: string[] = [];
  for (const [what, query] of Object.entries(presence)) {
    const { rowCount } = await pool.query(`${query} limit 1`);
    if (rowCount === 0) missing.push(what);
  }
  return missing;
}
