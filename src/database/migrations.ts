import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { ClientBase } from "pg";
import { hasCode } from "../has_code.ts";
import { version } from "../version.ts";
import { findPrimary } from "./hosts.ts";
import { installFunctions } from "./install.ts";
import { migrateQueue } from "./job_queue.ts";
import { pendingMigrations } from "./migration_state.ts";
import { checkRoles } from "./missing_roles.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { findPrivilegeWarnings } from "./privileges.ts";
import { dropUnfinishedIndexes, runMigrations } from "./run_migrations.ts";
import { migrationsDirectory } from "./schema_files.ts";
import { checkServerVersion } from "./server_checks.ts";
import {
  checkEncoding,
  checkSession,
  ownSearchPath,
  setLateSettings,
  withStartupOptions,
} from "./session_settings.ts";

const TURN_POLL_MS = 200;

/**
 * Brings the database up to date: runs the migrations that it lacks, and puts the functions of this
 * version in place. Returns what it did, in words: nothing if the database had it all. The login must
 * be able to create schemas in the database, and to become exchange_owner or, where the roles are
 * missing, to create them. Many processes may call it at once: they take turns, and the later ones
 * find nothing to do.
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
    await checkRoles(client);
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
    const installed = await installFunctions(client, log);
    await migrateQueue(client, primary);
    return installed ? [...pending, `the functions of ${version}`] : pending;
  } catch (error) {
    throw hasCode(error, "42501") ? await mayNotMigrate(client, error as Error) : error;
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

async function mayNotMigrate(client: pg.Client, cause: Error): Promise<DatabaseNotReadyError> {
  const warnings = await findPrivilegeWarnings(client).catch(() => []);
  const reason =
    warnings.find(({ name }) => name === "foreign_owner")?.message ??
    "it needs the role exchange_owner, and connect and create on the database";
  return new DatabaseNotReadyError(
    `The login ${client.user ?? "of DATABASE_URL"} may not migrate the database ` +
      `(${cause.message}): ${reason}`,
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
