import { crontab } from "../../jobs/crontab.ts";
import { sendMail } from "../../jobs/mail__send.ts";
import { openDatabase } from "../local/open_database.ts";
import { mailTransport } from "../mail/transport.ts";
import { checkProductionUrl, runProcess } from "../run_process.ts";
import { serveHealth } from "../worker/serve_health.ts";
import { startWorker } from "../worker/start_worker.ts";

/** `npm run worker`: the jobs alone, on a database that is migrated already. */
await runProcess(async ({ config, logger, onClose, print, ending, openWhenReady }) => {
  const { workerPort: port, metricsHost: host } = config;
  const server = port === undefined ? undefined : await serveHealth({ port, host });
  if (server !== undefined) {
    onClose(server.close);
    print(`health    ${server.url}/readyz`);
  }
  let connectionString = config.workerDatabaseUrl;
  if (connectionString === undefined) {
    checkProductionUrl(config, "WORKER_DATABASE_URL");
    const database = await openDatabase(config, (message) => {
      logger.info(message);
    });
    onClose(database.close, { outlivesUs: true });
    connectionString = database.connectionString;
  }
  const transport = mailTransport(config);
  const jobs = [...crontab];
  if (transport !== undefined) jobs.push(sendMail({ transport, siteUrl: config.publicUrl ?? "" }));
  const options = { connectionString, logger, crontab: jobs, signal: ending };
  const worker = await openWhenReady(() => startWorker(options), server?.refuseBecause);
  server?.handOver(worker.health);
  print("working");
});
