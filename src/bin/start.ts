import { join } from "node:path";
import type { Logger } from "pino";
import { crontab } from "../../jobs/crontab.ts";
import { sendMail } from "../../jobs/mail__send.ts";
import type { StaffRole } from "../database/calls.ts";
import { migrateDatabase } from "../database/migrations.ts";
import { embeddedDirectory, openDatabase } from "../local/open_database.ts";
import { makePool } from "../database/pools.ts";
import { hasCode } from "../has_code.ts";
import { waitForDatabase } from "../database/wait_for_database.ts";
import { prepareDemo } from "../local/demo.ts";
import { openFront } from "../http/front.ts";
import { mailTransport, printingTransport } from "../mail/transport.ts";
import { runProcess } from "../run_process.ts";
import { startService } from "../service.ts";
import { openWebsite } from "../site/open.ts";
import { startWorker } from "../worker/start_worker.ts";

/** `npm start`: the whole service on one database, brought up to date first. */
await runProcess(async ({ config, logger, onClose, print, ending, openWhenReady }) => {
  const front = await openFront(config);
  onClose(front.close);
  const website = await openWebsite(logger);
  const database = await openDatabase(config, (message) => {
    logger.info(message);
  });
  onClose(database.close, { outlivesUs: true });
  const whenReady = <T>(attempt: () => Promise<T>): Promise<T> =>
    waitForDatabase(attempt, { logger, signal: ending, onWaiting: front.refuseBecause });
  await whenReady(() =>
    migrateDatabase(database.connectionString, (message) => {
      logger.info(message);
    }),
  );
  await database.lockDown();
  const demo = config.demo
    ? await whenReady(() =>
        prepareDemo(database.connectionString, join(embeddedDirectory, "demo.json")),
      )
    : undefined;

  const connectionString = config.apiDatabaseUrl ?? database.connectionString;
  const staffUrl = async (url: string | undefined, role: StaffRole) =>
    url ?? (await urlIfAllowed(database.connectionString, role, logger));
  const serviceOptions = {
    connectionString,
    analystConnectionString: await staffUrl(config.analystDatabaseUrl, "analyst"),
    operatorConnectionString: await staffUrl(config.operatorDatabaseUrl, "operator"),
    config,
    logger,
    front,
    website,
    signal: ending,
  };
  const service = await openWhenReady(() => startService(serviceOptions), front.refuseBecause);
  const siteUrl = config.publicUrl ?? service.url;
  const transport = mailTransport(config) ?? printingTransport(print);
  const workerOptions = {
    connectionString: config.workerDatabaseUrl ?? database.connectionString,
    logger,
    crontab: [...crontab, sendMail({ transport, siteUrl })],
    onWorked: service.services.outboxRelay.ring,
    signal: ending,
  };
  await openWhenReady(() => startWorker(workerOptions), front.refuseBecause);

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

/** The login of everything serves GraphQL too, if it may; otherwise there is no GraphQL. */
async function urlIfAllowed(
  connectionString: string,
  role: StaffRole,
  logger: Logger,
): Promise<string | undefined> {
  const pool = makePool({ connectionString, role: `exchange_${role}`, max: 1 });
  try {
    await pool.query("select");
    return connectionString;
  } catch (error) {
    if (!hasCode(error, "42501", "22023")) return connectionString;
    const because = (error as Error).message;
    logger.info({ because }, `no GraphQL for ${role}s: set ${role.toUpperCase()}_DATABASE_URL`);
    return undefined;
  } finally {
    await pool.end();
  }
}

function curlLine(url: string, apiKey: string, order: object): string {
  return (
    `curl -s ${url}/api/v1/orders -H 'Authorization: Bearer ${apiKey}' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`
  );
}
