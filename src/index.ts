import { join } from "node:path";
import { migrateDatabase } from "./database/migrations.ts";
import { embeddedDirectory, openDatabase } from "./database/open_database.ts";
import { prepareDemo } from "./demo.ts";
import { runProcess } from "./run_process.ts";
import { startService } from "./service.ts";
import { startWorker } from "./worker/start_worker.ts";

/** `npm start`: the whole service on one database, brought up to date first. */
await runProcess(async ({ config, logger, onClose, print }) => {
  const database = await openDatabase(config, (message) => {
    logger.info(message);
  });
  onClose(database.close);
  await migrateDatabase(database.connectionString, (message) => {
    logger.info(message);
  });
  const demo = config.demo
    ? await prepareDemo(database.connectionString, join(embeddedDirectory, "demo.json"))
    : undefined;

  const connectionString = config.apiDatabaseUrl ?? database.connectionString;
  const service = await startService({
    connectionString,
    analystConnectionString: config.analystDatabaseUrl ?? database.connectionString,
    operatorConnectionString: config.operatorDatabaseUrl ?? database.connectionString,
    config,
    logger,
  });
  onClose(service.close);
  const worker = await startWorker({
    connectionString: config.workerDatabaseUrl ?? database.connectionString,
    logger,
    onWorked: service.services.announcer.ring,
  });
  onClose(worker.close);

  print(`database  ${database.description}`);
  print(`address   ${service.url}`);
  if (demo !== undefined) {
    const order = { marketId: demo.marketId, side: "yes", price: null, quantity: 10 };
    print(`demo key  ${demo.apiKey}`);
    print("a trade   " + curlLine(service.url, demo.apiKey, order));
  }
  if (service.metricsUrl !== undefined) print(`metrics   ${service.metricsUrl}/metrics`);
  print(`listening on ${service.url}`);
});

function curlLine(url: string, apiKey: string, order: object): string {
  return (
    `curl -s ${url}/api/v1/orders -H 'Authorization: Bearer ${apiKey}' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`
  );
}
