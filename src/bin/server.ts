import { openDatabase } from "../local/open_database.ts";
import { openFront } from "../http/front.ts";
import { checkProductionUrl, runProcess } from "../run_process.ts";
import { startService } from "../service.ts";
import { openWebsite } from "../site/open.ts";

/** `npm run server`: the HTTP interface alone, on a database that is migrated already. */
await runProcess(async ({ config, logger, onClose, print, ending, openWhenReady }) => {
  let connectionString = config.apiDatabaseUrl;
  if (connectionString === undefined) checkProductionUrl(config, "API_DATABASE_URL");
  const front = await openFront(config);
  onClose(front.close);
  const website = await openWebsite(logger);
  if (connectionString === undefined) {
    const database = await openDatabase(config, (message) => {
      logger.info(message);
    });
    onClose(database.close, { outlivesUs: true });
    connectionString = database.connectionString;
  }
  const options = {
    connectionString,
    analystConnectionString: config.analystDatabaseUrl,
    operatorConnectionString: config.operatorDatabaseUrl,
    config,
    logger,
    front,
    website,
    signal: ending,
  };
  const service = await openWhenReady(() => startService(options), front.refuseBecause);
  if (service.metricsUrl !== undefined) print(`metrics   ${service.metricsUrl}/metrics`);
  print(`listening on ${service.url}`);
});
