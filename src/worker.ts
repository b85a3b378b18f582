import { openDatabase } from "./database/open_database.ts";
import { runProcess } from "./run_process.ts";
import { serveHealth } from "./worker/serve_health.ts";
import { startWorker } from "./worker/start_worker.ts";

/** `npm run worker`: the jobs alone, on a database that is migrated already. */
await runProcess(async ({ config, logger, onClose, print }) => {
  let connectionString = config.workerDatabaseUrl;
  if (connectionString === undefined) {
    const database = await openDatabase(config, (message) => {
      logger.info(message);
    });
    onClose(database.close);
    connectionString = database.connectionString;
  }
  const worker = await startWorker({ connectionString, logger });
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
