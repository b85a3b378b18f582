import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { DatabaseNotReadyError } from "../database/not_ready.ts";
import { makePool } from "../database/pools.ts";
import { examine } from "../doctor/examine.ts";
import { embeddedDirectory, openDatabase } from "../local/open_database.ts";
import { errorMessage } from "./logger.ts";
import { checkProductionUrl, configOrEnd } from "./run_process.ts";

/**
 * `npm run doctor`: looks at a deployment and says, in order of urgency, what to do. Ends with 1 if
 * something is to be done now.
 */

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

try {
  parseArgs();
  const config = configOrEnd();
  checkProductionUrl(config);
  if (config.databaseUrl === undefined && !existsSync(embeddedDirectory)) {
    throw new DatabaseNotReadyError("There is no embedded PostgreSQL to look at: set DATABASE_URL");
  }
  const database = await openDatabase(config, print);
  // Its session has the settings of a server's, so it judges as one.
  const { connectionString } = database;
  const pool = makePool({ connectionString, applicationName: "pgmarkets doctor", max: 1 });
  try {
    const client = await pool.connect();
    const { findings, looked } = await examine(client, config.publicUrl).finally(() => {
      client.release();
    });
    const lines = findings.map(
      ({ urgency, about, problem, remedy }) =>
        `${urgency.padEnd(4)}  ${about}: ${problem}\n      ${remedy}`,
    );
    if (findings.length === 0) lines.push("nothing to do");
    // At once, for a reader that ends early.
    print([...lines, `looked at: ${looked.join(", ")}`].join("\n"));
    if (findings.some(({ urgency }) => urgency === "now")) process.exitCode = 1;
  } finally {
    await pool.end();
    await database.close();
  }
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
}
