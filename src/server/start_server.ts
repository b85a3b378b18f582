import type { Logger } from "pino";
import { makeContext } from "../api/context.ts";
import type { Context } from "../api/context.ts";
import { LOOPBACK } from "../config.ts";
import type { Config } from "../config.ts";
import { callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import { NOTE_PROCESS_MS, notedProcess } from "../database/noted_process.ts";
import { checkPreparedStatements } from "../database/prepared_statements.ts";
import { warnOfPrivileges } from "../database/privileges.ts";
import { checkDatabase, checkSequences } from "../database/readiness.ts";
import { endPools, listPools, makeServerPools, openPools } from "../database/server_pools.ts";
import { openReadStandbys, sharesOf } from "../database/server_pools.ts";
import type { ServerPools, ServerPoolsOptions } from "../database/server_pools.ts";
import { durabilityWarning } from "../database/session_settings.ts";
import type { Standbys } from "../database/standbys.ts";
import { CHECKS_MS, OPENING_MS, startInSteps } from "../database/start_steps.ts";
import { closeEndpoints, makeGraphqlEndpoints, prepareEndpoints } from "../graphql/endpoints.ts";
import type { GraphqlEndpoints, GraphqlEndpointsOptions } from "../graphql/endpoints.ts";
import { addressList } from "../http/address_list.ts";
import type { Front } from "../http/front.ts";
import { listen } from "../http_server.ts";
import type { Website } from "../site/files.ts";
import { version } from "../version.ts";
import { makeApp, makeMetricsApp } from "./app.ts";

/** Where to listen, to clients and to the database, and which proxies to trust. */
type ListeningConfig = Pick<Config, "host" | "port" | "trustProxy"> &
  Partial<
    Pick<
      Config,
      "listenDatabaseUrl" | "metricsAddresses" | "metricsHost" | "metricsPort" | "publicUrl"
    >
  >;

export interface ServerOptions extends ServerPoolsOptions, GraphqlEndpointsOptions {
  config: ListeningConfig & Pick<Config, "poolSize"> & Partial<Pick<Config, "readStandbys">>;
  /** Listens already, and hands over its address. Without it the server listens by itself. */
  front?: Front;
  /** The pages to serve. Without it there are none. */
  website?: Website | undefined;
  /** Aborts the start. */
  signal?: AbortSignal;
}

/** The HTTP interface, listening. */
export interface RunningServer {
  url: string;
  /** Where `/metrics` is, if it has an address of its own. */
  metricsUrl: string | undefined;
  context: Context;
  /** Answers the requests that have come, and closes the connections to the database. */
  close: () => Promise<void>;
}

/** Checks the database, and serves it. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, front, logger, signal, website } = options;
  const pools = makeServerPools(options);
  const all = listPools(pools).map(([, pool]) => pool);
  return await startInSteps(all, signal, async (step) => {
    await step("checking the database", CHECKS_MS, async (given) => {
      const database = await checkDatabase(pools.monitoring);
      await checkPreparedStatements(pools.monitoring, given);
      checkSequences(await callsOn(pools.monitoring, api).listLaggingSequences({}));
      logger.info({ version, node: process.versions.node, database }, "starting to serve");
      const warning = await durabilityWarning(pools.monitoring);
      if (warning !== undefined) logger.warn(warning);
      await warnOfPrivileges(pools.monitoring, (message) => {
        logger.warn(message);
      });
    });
    await step("opening connections", OPENING_MS, () => openPools(pools));
    const { readStandbys } = config;
    const graphql = makeGraphqlEndpoints({ ...options, readStandbys });
    const standbys = openReadStandbys({
      ...{ given: readStandbys, primary: pools.checks, role: "exchange_api", logger },
      applicationName: "pgmarkets reads",
      max: sharesOf(config.poolSize).reads,
    });
    return await serve({ pools, standbys, config, logger, graphql, front, website });
  });
}

export interface ServeOptions {
  /** They act as exchange_api. They are ended with the server. */
  pools: ServerPools;
  config: ListeningConfig;
  logger: Logger;
  /** They answer public reads. They are closed with the server. */
  standbys?: Standbys | undefined;
  /** They are closed with the server. */
  graphql?: GraphqlEndpoints;
  front?: Front | undefined;
  website?: Website | undefined;
  /** For tests: how long the answer of a public read is given again. */
  answersKeptMs?: number | undefined;
}

/** Serves the database of these pools. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { pools, standbys, config, logger, graphql = {}, front, website, answersKeptMs } = options;
  const { listenDatabaseUrl: listenUrl, publicUrl } = config;
  const context = makeContext(pools, logger, {
    ...{ listenUrl, graphql, standbys, publicUrl, answersKeptMs },
  });
  await context.streams.start();
  const {
    metricsAddresses = LOOPBACK,
    metricsPort,
    metricsHost = "127.0.0.1",
    trustProxy,
  } = config;
  const metricsFor = metricsPort === undefined ? addressList(metricsAddresses) : undefined;
  const app = makeApp({ context, trustProxy, metricsFor, website });
  const main = front?.handOver(app) ?? (await listen(app, config));
  const metrics =
    metricsPort === undefined
      ? undefined
      : await listen(makeMetricsApp(context), { port: metricsPort, host: metricsHost });
  void prepareEndpoints(graphql);
  const endNoting = keepNoted(pools, context);
  return {
    url: main.url,
    metricsUrl: metrics?.url,
    context,
    close: async () => {
      const closed = main.close();
      context.streams.end();
      await closed;
      await metrics?.close();
      // A client that hung up may have left an order behind.
      await context.orderGatherer.drained();
      await Promise.all([context.outboxRelay.close(), endNoting()]);
      await context.streams.close();
      await closeEndpoints(graphql);
      await standbys?.close();
      await endPools(pools);
    },
  };
}

/** Notes in the database that this server runs, until the function that it returns is called. */
function keepNoted({ monitoring }: ServerPools, { commits, logger }: Context): () => Promise<void> {
  const { noteProcess } = callsOn(monitoring, api);
  const { note, end } = notedProcess((noted, options) =>
    commits.during(() => noteProcess(noted, options)),
  );
  const noteNow = (): void => {
    note().catch((error: unknown) => {
      logger.debug({ error }, "the database could not be told that this server runs");
    });
  };
  noteNow();
  const timer = setInterval(noteNow, NOTE_PROCESS_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await end();
  };
}
