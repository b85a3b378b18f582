import { openDatabase } from "./database/open_database.ts";
import { waitForDatabase } from "./database/wait_for_database.ts";
import { checkProductionUrl, runProcess } from "./run_process.ts";
import { serveHealth } from "./worker/serve_health.ts";
import { startWorker } from "./worker/start_worker.ts";

/** `npm run worker`: the jobs alone, on a database that is migrated already. */
await runProcess(async ({ config, logger, onClose, print, ending }) => {
  let connectionString = config.workerDatabaseUrl;
  if (connectionString === undefined) {
    checkProductionUrl(config, "WORKER_DATABASE_URL");
    const database = await openDatabase(config, (message) => {
      logger.info(message);
    });
    onClose(database.close, { outlivesUs: true });
    connectionString = database.connectionString;
  }
  const options = { connectionString, logger };
  const worker = await waitForDatabase(() => startWorker(options), { logger, signal: ending });
  onClose(worker.close);
  if (config.workerPort !== undefined) {
    const server = await serveHealth(worker.health, {
      port: config.workerPort,
      host: config.metricsHost,
    });
    onClose(server.close);
    print(`health    ${server.url}/readyz`);
  }
  print("working");
});
