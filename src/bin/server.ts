import { openFront } from "../http/front.ts";
import { startServer } from "../server/start_server.ts";
import { openWebsite } from "../site/open.ts";
import { checkProductionUrl, runProcess } from "./run_process.ts";

/** `npm run server`: the HTTP interface alone, on a database that is migrated already. */
await runProcess(async (context) => {
  const { config, ending, logger, onClose, openDatabase, openWhenReady, print } = context;
  const { apiDatabaseUrl } = config;
  if (apiDatabaseUrl === undefined) checkProductionUrl(config, "API_DATABASE_URL");
  const front = await openFront(config);
  onClose(front.close);
  logger.info({ url: front.url }, "listening, and not ready yet");
  const website = await openWebsite(logger, config.pagesFolder);
  const options = {
    connectionString: apiDatabaseUrl ?? (await openDatabase()).connectionString,
    analystConnectionString: config.analystDatabaseUrl,
    operatorConnectionString: config.operatorDatabaseUrl,
    config,
    logger,
    front,
    website,
    signal: ending,
  };
  const server = await openWhenReady(() => startServer(options), front.notReadyBecause);
  if (server.metricsUrl !== undefined) print(`metrics   ${server.metricsUrl}/metrics`);
  print(`listening on ${server.url}`);
});
