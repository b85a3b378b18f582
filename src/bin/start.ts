import { crontab } from "../../jobs/crontab.ts";
import { publishHistory } from "../../jobs/history__publish.ts";
import { sendMail } from "../../jobs/mail__send.ts";
import type { StaffRole } from "../database/calls.ts";
import { migrateDatabase } from "../database/migrations.ts";
import { waitForDatabase } from "../database/wait_for_database.ts";
import { loginForGraphql } from "../graphql/endpoints.ts";
import { openFront } from "../http/front.ts";
import { describeTrade, prepareDemo } from "../local/demo.ts";
import { startDemoTraders } from "../local/demo_traders.ts";
import { mailTransport, printingTransport } from "../mail/transport.ts";
import { startServer } from "../server/start_server.ts";
import { openWebsite } from "../site/open.ts";
import { startWorker } from "../worker/start_worker.ts";
import { runProcess } from "./run_process.ts";

/** `npm start`: the whole service on one database, brought up to date first. */
await runProcess(async (context) => {
  const { config, ending, inform, logger, onClose, openDatabase, openWhenReady, print } = context;
  const front = await openFront(config);
  onClose(front.close);
  const website = await openWebsite(logger, config.pagesFolder);
  const database = await openDatabase();
  const whenReady = <T>(attempt: () => Promise<T>): Promise<T> =>
    waitForDatabase(attempt, { logger, signal: ending, onWaiting: front.notReadyBecause });
  await whenReady(() => migrateDatabase(database.connectionString, inform));
  await database.lockDown();
  const demo = config.demo
    ? await whenReady(() => prepareDemo(database.connectionString, database))
    : undefined;

  const staffUrl = async (url: string | undefined, role: StaffRole) =>
    url ?? (await loginForGraphql(database.connectionString, role, logger));
  const serverOptions = {
    connectionString: config.apiDatabaseUrl ?? database.connectionString,
    analystConnectionString: await staffUrl(config.analystDatabaseUrl, "analyst"),
    operatorConnectionString: await staffUrl(config.operatorDatabaseUrl, "operator"),
    config,
    logger,
    front,
    website,
    signal: ending,
  };
  const server = await openWhenReady(() => startServer(serverOptions), front.notReadyBecause);
  // By a name: at an IP address browsers make no passkeys.
  const siteUrl =
    config.publicUrl ?? server.url.replace(/127\.0\.0\.1|0\.0\.0\.0|\[::1?\]/, "localhost");
  const transport = mailTransport(config) ?? printingTransport(print);
  onClose(transport.close);
  const workerOptions = {
    connectionString: config.workerDatabaseUrl ?? database.connectionString,
    // The terminal of a demo shows keys and links. Its traders make history all the time, and the
    // heads of it would soon hide these.
    logger:
      demo !== undefined && config.logLevel === "info"
        ? logger.child({}, { level: "warn" })
        : logger,
    crontab: [...crontab, ...publishHistory(config), sendMail({ transport, siteUrl })],
    onWorked: server.context.outboxRelay.ring,
    signal: ending,
  };
  await openWhenReady(() => startWorker(workerOptions), front.notReadyBecause);
  if (demo?.living !== undefined) {
    const traders = startDemoTraders({
      connectionString: database.connectionString,
      living: demo.living,
      logger,
      onTraded: server.context.outboxRelay.ring,
    });
    onClose(traders.close);
  }

  print(`database  ${database.description}`);
  print(`address   ${server.url}`);
  print(`website   ${siteUrl}`);
  if (demo !== undefined) {
    print(`demo key  ${demo.apiKey}`);
    print(`a trade   ${describeTrade(server.url, demo)}`);
  }
  if (server.metricsUrl !== undefined) print(`metrics   ${server.metricsUrl}/metrics`);
  print(`listening on ${server.url}`);
});
