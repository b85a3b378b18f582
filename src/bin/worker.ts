import { crontab } from "../../jobs/crontab.ts";
import { publishHistory } from "../../jobs/history__publish.ts";
import { sendMail } from "../../jobs/mail__send.ts";
import { mailTransport } from "../mail/transport.ts";
import { serveHealth } from "../worker/serve_health.ts";
import { startWorker } from "../worker/start_worker.ts";
import { checkProductionUrl, runProcess } from "./run_process.ts";

/** `npm run worker`: the jobs alone, on a database that is migrated already. */
await runProcess(async (context) => {
  const { config, ending, logger, onClose, openDatabase, openWhenReady, print } = context;
  const { workerDatabaseUrl, workerPort: port, metricsHost: host } = config;
  const healthServer = port === undefined ? undefined : await serveHealth({ port, host, logger });
  if (healthServer !== undefined) {
    onClose(healthServer.close);
    print(`health    ${healthServer.url}/readyz`);
  }
  if (workerDatabaseUrl === undefined) checkProductionUrl(config, "WORKER_DATABASE_URL");
  const connectionString = workerDatabaseUrl ?? (await openDatabase()).connectionString;
  const transport = mailTransport(config);
  const jobs = [...crontab, ...publishHistory(config)];
  if (transport) {
    jobs.push(sendMail({ transport, siteUrl: config.publicUrl ?? "" }));
    onClose(transport.close);
  }
  const options = { connectionString, logger, crontab: jobs, signal: ending };
  const worker = await openWhenReady(() => startWorker(options), healthServer?.notReadyBecause);
  healthServer?.handOver(worker.health);
  if (!transport) logger.warn("SMTP_URL is not set: this worker sends no mail");
  print("working");
});
