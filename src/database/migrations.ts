import { readFile, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { ClientBase, Pool } from "pg";
import { hasCode } from "../has_code.ts";
import { singleFlight } from "../single_flight.ts";
import { findPrimary } from "./hosts.ts";
import { migrateQueue } from "./job_queue.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { dropUnfinishedIndexes, runMigrations } from "./run_migrations.ts";
import {
  checkEncoding,
  checkSession,
  ownSearchPath,
  setLateSettings,
  withStartupOptions,
} from "./session_settings.ts";

/** Has committed/, current.sql, and fixtures, a link to db/. */
export const migrationsDirectory = resolve(import.meta.dirname, "../../migrate");

const OLDEST_SERVER = 15;
const NEWEST_SERVER = 18;

const TURN_POLL_MS = 200;

type Queryable = Pool | ClientBase;

/** Throws unless pgmarkets is tested on this version of PostgreSQL. Returns the version. */
export async function checkServerVersion(database: Queryable): Promise<string> {
  const { rows } = await database.query<{ number: string; version: string }>(
    `select current_setting('server_version_num') as number,
            current_setting('server_version') as version`,
  );
  const version = rows[0]?.version ?? "?";
  const major = Math.floor(Number(rows[0]?.number) / 10_000);
  if (major < OLDEST_SERVER || major > NEWEST_SERVER) {
    throw new DatabaseNotReadyError(
      `The database server is PostgreSQL ${version}: ` +
        `pgmarkets needs ${OLDEST_SERVER} to ${NEWEST_SERVER}`,
      { reason: "server_version" },
    );
  }
  return version;
}

export interface MigrationOptions {
  /** Whether the database may have had migrations of a later version than this one. */
  allowLater?: boolean;
}

/**
 * The committed migrations that the database lacks, in order. Throws when it has had unknown ones: it
 * was migrated by another, probably newer, version.
 */
export async function pendingMigrations(
  database: Queryable,
  { allowLater = false }: MigrationOptions = {},
): Promise<string[]> {
  const committed = await migrationsOfThisVersion();
  const applied = await readApplied(database);
  const known = new Set(committed.map(({ hash }) => hash));
  const foreign = applied.find(({ hash }) => !known.has(hash));
  if (foreign && !allowLater) {
    throw new DatabaseNotReadyError(
      `The database has had a migration ${foreign.filename} (${foreign.hash}) that is not in ` +
        "migrate/committed: it belongs to another version of pgmarkets",
      { reason: "migrations_unknown" },
    );
  }
  const done = new Set(applied.map(({ hash }) => hash));
  return committed.filter(({ hash }) => !done.has(hash)).map(({ filename }) => filename);
}

/** The versions of the database server and of the schema, which is its last migration. */
export interface DatabaseVersions {
  server: string;
  schema: string;
}

/**
 * For servers and workers: throws for a database that can't be used, with what to do about it.
 * Otherwise returns the versions.
 */
export async function checkDatabase(
  database: Queryable,
  options: MigrationOptions = {},
): Promise<DatabaseVersions> {
  const server = await checkServerVersion(database);
  await checkEncoding(database);
  await checkSession(database);
  const pending = await pendingMigrations(database, options);
  if (pending.length > 0) {
    throw new DatabaseNotReadyError(
      `The database lacks ${pending.length} migration(s), from ${pending[0] ?? ""} on: ` +
        "run npm run migrate as the owner of the database",
      { reason: "migrations_missing" },
    );
  }
  return { server, schema: (await readApplied(database)).at(-1)?.filename ?? "none" };
}

/** Throws when the database takes no writes: on a standby, or if sessions are read-only. */
export async function checkWritable(database: Queryable): Promise<void> {
  // A standby's transactions are read-only whatever is set.
  const { rows } = await database.query<{ setting: string }>(
    "select current_setting('transaction_read_only') as setting",
  );
  if (rows[0]?.setting !== "on") return;
  throw new DatabaseNotReadyError(
    "The database can't be written to: it is a standby, or read-only by default_transaction_read_only",
    { reason: "read_only" },
  );
}

/**
 * Brings the database up to date and returns the migrations that ran. The login must be able to
 * create schemas in the database, and to become exchange_owner or, where the roles are missing, to
 * create them. Many processes may call it at once: they take turns, and the later ones find nothing
 * to do.
 */
export async function migrateDatabase(
  databaseUrl: string,
  log: (message: string) => void = () => undefined,
): Promise<string[]> {
  const primary = await findPrimary(databaseUrl);
  // These sessions have no time limits: a migration may take long.
  const connectionString = withStartupOptions(primary, ownSearchPath);
  const client = new pg.Client({ connectionString, application_name: "pgmarkets migrate" });
  // The query under way fails with the reason.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await checkServerVersion(client);
    await checkEncoding(client);
    await setLateSettings(client);
    await checkSession(client);
    await waitForTurn(client);
    const pending = await pendingMigrations(client);
    if (pending.length > 0) {
      const paths = pending.map((name) => join(migrationsDirectory, "committed", name));
      const prepare = () => dropUnfinishedIndexes(client, paths);
      await runMigrations({
        connectionString,
        migrationsFolder: migrationsDirectory,
        log,
        prepare,
      });
    }
    // A run that was killed after its migrations may have left this to the next one.
    await letServersLook(client);
    await migrateQueue(client, primary);
    return pending;
  } catch (error) {
    throw hasCode(error, "42501") ? mayNotMigrate(client.user, error as Error) : error;
  } finally {
    await client.end();
  }
}

/**
 * graphile-migrate has a lock of its own, but fails instead of waiting for it. This lock ends with
 * the connection. It is asked for again and again: a session that waits within a statement has a
 * snapshot, and `create index concurrently` of the session before would wait for that.
 */
async function waitForTurn(client: ClientBase): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtextextended('pgmarkets migrate', 0)) as taken",
    );
    if (rows[0]?.taken) return;
    await delay(TURN_POLL_MS);
  }
}

function mayNotMigrate(login: string | undefined, cause: Error): DatabaseNotReadyError {
  return new DatabaseNotReadyError(
    `The login ${login ?? "of DATABASE_URL"} may not migrate the database (${cause.message}): ` +
      "it needs the role exchange_owner, and connect and create on the database",
    { cause },
  );
}

/**
 * Servers read the list of migrations by logins that own nothing; so does api.get_metrics. Grants
 * what is missing, so that a run without work locks nothing.
 */
async function letServersLook(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string }>(
    `select r.role
     from unnest($1::text[]) as r (role)
     where not has_schema_privilege(r.role, 'graphile_migrate', 'usage')
       or not has_table_privilege(r.role, 'graphile_migrate.migrations', 'select')`,
    [["exchange_api", "exchange_worker", "exchange_owner"]],
  );
  for (const { role } of rows) {
    await client.query(`grant usage on schema graphile_migrate to ${role}`);
    await client.query(`grant select on graphile_migrate.migrations to ${role}`);
  }
}

interface Migration {
  filename: string;
  hash: string;
}

/**
 * Read once: files that come later, with the next version, do not make this process unready. The
 * process goes on with the database that it started on.
 */
const migrationsOfThisVersion = singleFlight(readCommitted, Infinity);

async function readCommitted(): Promise<Migration[]> {
  const directory = join(migrationsDirectory, "committed");
  const filenames = (await readdir(directory)).filter((name) => /^\d{6}.*\.sql$/.test(name)).sort();
  return await Promise.all(
    filenames.map(async (filename) => {
      const text = await readFile(join(directory, filename), "utf8");
      const hash = /^--! Hash: (\S+)$/m.exec(text)?.[1];
      if (hash === undefined) throw new Error(`${filename} has no line "--! Hash: ..."`);
      return { filename, hash };
    }),
  );
}

async function readApplied(database: Queryable): Promise<Migration[]> {
  try {
    const { rows } = await database.query<Migration>(
      "select filename, hash from graphile_migrate.migrations order by filename",
    );
    return rows;
  } catch (error) {
    const undefinedTable = hasCode(error, "42P01", "3F000");
    if (undefinedTable) return [];
    throw error;
  }
}
