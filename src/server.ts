import { openDatabase } from "./database/open_database.ts";
import { runProcess } from "./run_process.ts";
import { startService } from "./service.ts";

/** `npm run server`: the HTTP interface alone, on a database that is migrated already. */
await runProcess(async ({ config, logger, onClose, print }) => {
  let connectionString = config.apiDatabaseUrl;
  if (connectionString === undefined) {
    const database = await openDatabase(config, (message) => {
      logger.info(message);
    });
    onClose(database.close);
    connectionString = database.connectionString;
  }
  const service = await startService({
    connectionString,
    analystConnectionString: config.analystDatabaseUrl,
    operatorConnectionString: config.operatorDatabaseUrl,
    config,
    logger,
  });
  onClose(service.close);
  if (service.metricsUrl !== undefined) print(`metrics   ${service.metricsUrl}/metrics`);
  print(`listening on ${service.url}`);
});
