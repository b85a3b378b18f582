import type { ClientBase, Pool } from "pg";
import { hasCode } from "../has_code.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { committedMigrations } from "./schema_files.ts";
import type { Migration } from "./schema_files.ts";

type Queryable = Pool | ClientBase;

/** How far a database is migrated. */
export interface MigrationState {
  /** The committed migrations that it lacks, in order. */
  pending: string[];
  /** Those that it has had and this version does not know. */
  unknown: string[];
  /** The last one that it has had. */
  last: string | undefined;
}

/** Reads how far the database is migrated. It may have had migrations of a later version as well. */
export async function readMigrations(database: Queryable): Promise<MigrationState> {
  const committed = committedMigrations();
  const applied = await readApplied(database);
  const done = new Set(applied.map(({ hash }) => hash));
  const pending = committed.filter(({ hash }) => !done.has(hash));
  const known = new Set(committed.map(({ hash }) => hash));
  return {
    pending: pending.map(({ filename }) => filename),
    unknown: applied.filter(({ hash }) => !known.has(hash)).map(({ filename }) => filename),
    last: applied.at(-1)?.filename,
  };
}

/** The committed migrations that the database lacks, in order. Throws if it has had unknown ones. */
export async function pendingMigrations(database: Queryable): Promise<string[]> {
  const { pending, unknown } = await readMigrations(database);
  if (unknown.length > 0) throw otherVersion(unknown);
  return pending;
}

/** The error for a database whose migrations are not those of this version. */
export function otherVersion(unknown: string[]): DatabaseNotReadyError {
  return new DatabaseNotReadyError(
    `The database has had a migration ${unknown[0] ?? ""} that is not in migrate/committed: it ` +
      "belongs to another version of pgmarkets",
    { reason: "migrations_unknown" },
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
