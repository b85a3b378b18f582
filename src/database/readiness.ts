import type { ClientBase, Pool, PoolClient } from "pg";
import { singleFlight } from "../single_flight.ts";
import { withRetries } from "./failures.ts";
import { checkFunctions } from "./installed_functions.ts";
import { readMigrations } from "./migrations.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import type { NotReadyReason } from "./not_ready.ts";
import { isPreparedStatementLost } from "./prepared_statements.ts";
import { checkServerVersion, checkWritable } from "./server_checks.ts";
import { checkEncoding, checkSession } from "./session_settings.ts";

/** The versions of the database server and of the schema, which is its last migration. */
export interface DatabaseVersions {
  server: string;
  schema: string;
}

/**
 * For servers and workers: throws for a database that can't be used, with what to do about it.
 * Otherwise returns the versions. A database of a later version can be used: it is upgraded before
 * its servers are.
 */
export async function checkDatabase(database: Pool | ClientBase): Promise<DatabaseVersions> {
  const server = await checkServerVersion(database);
  await checkEncoding(database);
  await checkSession(database);
  const { pending, last = "none" } = await readMigrations(database);
  if (pending.length > 0) {
    throw new DatabaseNotReadyError(
      `The database lacks ${pending.length} migration(s), from ${pending[0] ?? ""} on: ` +
        "run npm run migrate as the owner of the database",
      { reason: "migrations_missing" },
    );
  }
  await checkFunctions(database);
  return { server, schema: last };
}

/** Whether this process could carry out an order now. */
export interface Readiness {
  /** Undefined if it could, else the reason. */
  check: () => Promise<NotReadyReason | undefined>;
}

/** The database is asked this often at most. */
const ANSWER_HOLDS_FOR_MS = 500;

/** Checks the database of this pool. */
export function createReadiness(pool: Pool): Readiness {
  return { check: singleFlight(() => reasonAgainst(pool), ANSWER_HOLDS_FOR_MS) };
}

async function reasonAgainst(pool: Pool): Promise<NotReadyReason | undefined> {
  const look = async (client: PoolClient): Promise<NotReadyReason | undefined> => {
    try {
      await checkDatabase(client);
      await checkWritable(client);
      // A transaction pooler may lose this prepared statement.
      await client.query({ name: "pgmarkets_ready", text: "select" });
      return undefined;
    } catch (error) {
      if (error instanceof DatabaseNotReadyError) return error.reason;
      if (isPreparedStatementLost(error)) return "prepared_statements";
      throw error;
    }
  };
  try {
    return await withRetries(pool, look, { repeatable: true, attempts: 1 });
  } catch {
    return "database_unreachable";
  }
}
