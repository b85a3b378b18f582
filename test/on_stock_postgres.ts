import { onEndingSignal } from "./helpers/processes/signals.ts";
import {
  findDebianPostgres,
  runWith,
  startStockCluster,
} from "./helpers/database/stock_cluster.ts";

/**
 * `node test/on_stock_postgres.ts <command> [arguments]`: makes a cluster of Debian's PostgreSQL
 * with nothing but initdb's configuration, runs the command with DATABASE_URL and
 * TEST_DATABASE_URL naming it, removes it, and ends as the command did. TEST_POSTGRES_BIN names
 * other programs.
 */

const [command = "", ...args] = process.argv.slice(2);
const programs = process.env.TEST_POSTGRES_BIN ?? findDebianPostgres();
if (command === "" || programs === undefined) {
  console.error(command === "" ? "Name a command to run" : "Debian's PostgreSQL is not installed");
  process.exit(1);
}

const cluster = await startStockCluster(programs);
// Ctrl-C ends the command, which ends this.
onEndingSignal(() => undefined);
try {
  const { url } = cluster;
  const variables = { DATABASE_URL: url, TEST_DATABASE_URL: url, TEST_POSTGRES_BIN: "" };
  process.exitCode = await runWith(variables, command, args);
} finally {
  await cluster.destroy();
}
