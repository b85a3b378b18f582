import { migrateDatabase } from "./database/migrations.ts";
import { openDatabase } from "./database/open_database.ts";
import { tellError } from "./logger.ts";
import { checkProductionUrl, configOrEnd } from "./run_process.ts";

/** `npm run migrate`: brings the database up to date and ends. */

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

try {
  const config = configOrEnd();
  checkProductionUrl(config);
  const database = await openDatabase(config, print);
  try {
    const ran = await migrateDatabase(database.connectionString, print);
    print(ran.length === 0 ? "nothing to migrate" : `migrated: ${ran.join(", ")}`);
  } finally {
    await database.close();
  }
} catch (error) {
  process.stderr.write(`${tellError(error)}\n`);
  process.exitCode = 1;
}
