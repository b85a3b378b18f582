import { migrateDatabase } from "./database/migrations.ts";
import { DatabaseNotReadyError } from "./database/not_ready.ts";
import { openDatabase } from "./database/open_database.ts";
import { configOrEnd } from "./run_process.ts";

/** `npm run migrate`: brings the database up to date and ends. */

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

try {
  const database = await openDatabase(configOrEnd(), print);
  try {
    const ran = await migrateDatabase(database.connectionString, print);
    print(ran.length === 0 ? "nothing to migrate" : `migrated: ${ran.join(", ")}`);
  } finally {
    await database.close();
  }
} catch (error) {
  // What has a code comes from the system or from PostgreSQL, and its message says it all.
  const expected =
    error instanceof Error && (error instanceof DatabaseNotReadyError || "code" in error);
  process.stderr.write(`${expected ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
