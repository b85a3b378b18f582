import type { ClientBase, Pool } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";

/** Whether the exchange can use a database server at all. */

const OLDEST_SERVER = 15;
const NEWEST_SERVER = 18;

/** Throws unless pgmarkets is tested on this version of PostgreSQL. Returns the version. */
export async function checkServerVersion(database: Pool | ClientBase): Promise<string> {
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

/** Throws when the database takes no writes: on a standby, or if sessions are read-only. */
export async function checkWritable(database: Pool | ClientBase): Promise<void> {
  if (!(await isReadOnly(database))) return;
  throw new DatabaseNotReadyError(
    "The database can't be written to: it is a standby, or read-only by default_transaction_read_only",
    { reason: "read_only" },
  );
}

/** Whether the database takes no writes. A standby's transactions are read-only whatever is set. */
export async function isReadOnly(database: Pool | ClientBase): Promise<boolean> {
  const { rows } = await database.query<{ setting: string }>(
    "select current_setting('transaction_read_only') as setting",
  );
  return rows[0]?.setting === "on";
}
