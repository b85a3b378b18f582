import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Logger, migrate } from "graphile-migrate";
import type { LogLevel } from "graphile-migrate";
import pg from "pg";
import type { ClientBase } from "pg";
import { untilLocked } from "./missed_locks.ts";

/**
 * graphile-migrate keeps its connections for 200 ms after its end, and ends the process if the
 * database goes away in that time.
 */
export const POOL_LINGERS_MS = 300;

export interface MigrationRun {
  connectionString: string;
  migrationsFolder: string;
  log: (message: string) => void;
  /** Done before each try. */
  prepare: () => Promise<void>;
}

/**
 * Runs the migrations of a folder that the database lacks, with graphile-migrate. One that does not
 * get its locks beside the traders is run again.
 */
export async function runMigrations(run: MigrationRun): Promise<void> {
  const { connectionString, migrationsFolder, log, prepare } = run;
  const logger = new Logger(() => (level: LogLevel, message: string) => {
    if ((level as string) !== "debug") log(message);
  });
  await untilLocked("migration", log, async () => {
    await prepare();
    await migrate({ connectionString, migrationsFolder, logger });
  });
  await delay(POOL_LINGERS_MS);
}

/**
 * Drops what a killed or failed `create index concurrently` of these migrations left: an invalid
 * index under the name of the one to come. One that somebody is building now stays.
 */
export async function dropUnfinishedIndexes(
  client: ClientBase,
  migrations: readonly string[],
): Promise<void> {
  for (const path of migrations) {
    const text = await readFile(path, "utf8");
    const statement = /^create (?:unique )?index concurrently (\w+)\s+on (\w+)\./m.exec(text);
    if (statement === null) continue;
    const { rowCount } = await client.query(
      `select
       from pg_index as i
       join pg_class as c on c.oid = i.indexrelid
       where c.relname = $1 and c.relnamespace = to_regnamespace($2) and not i.indisvalid
         and not exists (
           select from pg_stat_progress_create_index as p where p.index_relid = i.indexrelid
         )`,
      statement.slice(1),
    );
    const [name, schema] = statement.slice(1).map((word) => pg.escapeIdentifier(word));
    if (rowCount === 1) await client.query(`drop index concurrently ${schema}.${name}`);
  }
}
