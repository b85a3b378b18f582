import { migrateDatabase } from "../database/migrations.ts";
import { makePool } from "../database/pools.ts";
import { warnOfPrivileges } from "../database/privileges.ts";
import { openDatabase } from "../local/open_database.ts";
import { errorMessage } from "./logger.ts";
import { checkProductionUrl, configOrEnd } from "./run_process.ts";

/** `npm run migrate`: brings the database up to date and ends. */

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function warn(connectionString: string): Promise<void> {
  const pool = makePool({ connectionString, max: 1 });
  try {
    await warnOfPrivileges(pool, print);
  } finally {
    await pool.end();
  }
}

try {
  const config = configOrEnd();
  checkProductionUrl(config);
  const database = await openDatabase(config, print);
  try {
    const ran = await migrateDatabase(database.connectionString, print);
    await database.lockDown();
    await warn(database.connectionString);
    print(ran.length === 0 ? "nothing to migrate" : `migrated: ${ran.join(", ")}`);
  } finally {
    await database.close();
  }
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
}
