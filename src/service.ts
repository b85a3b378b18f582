import type { Pool } from "pg";
import type { Logger } from "pino";
import { makeApp, makeMetricsApp } from "./app.ts";
import type { Config } from "./config.ts";
import { checkDatabase } from "./database/migrations.ts";
import type { StaffRole } from "./database/calls.ts";
import { makePool } from "./database/pools.ts";
import { checkPreparedStatements } from "./database/prepared_statements.ts";
import { warnOfOpenDoors } from "./database/privileges.ts";
import {
  asServerPools,
  endPools,
  listPools,
  makeServerPools,
  openPools,
} from "./database/server_pools.ts";
import type { ServerPools } from "./database/server_pools.ts";
import { durabilityWarning } from "./database/session_settings.ts";
import { CHECKS_MS, OPENING_MS, startInSteps } from "./database/start_steps.ts";
import { createEndpoint } from "./graphql/endpoint.ts";
import type { GraphqlEndpoint } from "./graphql/endpoint.ts";
import type { Front } from "./http/front.ts";
import { listen } from "./http/listener.ts";
import { makeServices } from "./services.ts";
import type { GraphqlEndpoints, Services } from "./services.ts";
import type { Website } from "./site/files.ts";
import { version } from "./version.ts";

/** Where to listen, to clients and to the database, and whom to believe. */
type ListeningConfig = Pick<Config, "host" | "port" | "trustProxy"> &
  Partial<Pick<Config, "listenDatabaseUrl" | "metricsHost" | "metricsPort" | "publicUrl">>;

export interface ServiceOptions {
  /** A login that is or may become exchange_api. */
  connectionString: string;
  /** A login that is or may become exchange_analyst, if analysts are to be served GraphQL. */
  analystConnectionString?: string | undefined;
  /** Likewise exchange_operator, for operators. */
  operatorConnectionString?: string | undefined;
  config: ListeningConfig & Pick<Config, "poolSize">;
  logger: Logger;
  /** Listens already, and hands over its address. Without it the service listens by itself. */
  front?: Front;
  /** The pages to serve. Without it there are none. */
  website?: Website | undefined;
  /** Aborted when there is no use in starting any more. */
  signal?: AbortSignal;
}

/** The HTTP interface, listening. */
export interface Service {
  url: string;
  /** Where the figures for monitoring are, if not there. */
  metricsUrl: string | undefined;
  services: Services;
  /** Answers what has come and leaves the database, pool and all. */
  close: () => Promise<void>;
}

/** How long a request may wait for a connection before it is told to come back. */
const CONNECTION_TIMEOUT_MS = 5000;
/** A market is locked for milliseconds; who waits longer than this had better try again. */
const LOCK_TIMEOUT_MS = 2000;
const STATEMENT_TIMEOUT_MS = 15_000;

/** Checks that the database is fit, and serves it. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, logger } = options;
  const pools = makePools(options);
  const all = listPools(pools).map(([, pool]) => pool);
  return await startInSteps(all, options.signal, async (step) => {
    await step("checking the database", CHECKS_MS, async (signal) => {
      const database = await checkDatabase(pools.monitoring);
      await checkPreparedStatements(pools.monitoring, signal);
      logger.info({ version, node: process.versions.node, database }, "starting to serve");
      const warning = await durabilityWarning(pools.monitoring);
      if (warning !== undefined) logger.warn(warning);
      await warnOfOpenDoors(pools.monitoring, (message) => {
        logger.warn(message);
      });
    });
    await step("opening connections", OPENING_MS, () => openPools(pools));
    const { front, website } = options;
    return await serve(pools, config, logger, makeGraphqlEndpoints(options), front, website);
  });
}

/** The pools of a server by that configuration. */
export function makePools({
  connectionString,
  config,
  logger,
}: Pick<ServiceOptions, "connectionString" | "config" | "logger">): ServerPools {
  return makeServerPools(config.poolSize, {
    connectionString,
    applicationName: "pgmarkets api",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: (error) => {
      logger.warn({ error }, "an idle database connection was lost");
    },
  });
}

/** Analysts and operators are few, and get a few connections each. */
const GRAPHQL_POOL_SIZE = 4;

/** GraphQL for those whose login is given. */
export function makeGraphqlEndpoints(
  options: Pick<ServiceOptions, "logger" | "analystConnectionString" | "operatorConnectionString">,
): GraphqlEndpoints {
  const { logger, analystConnectionString, operatorConnectionString } = options;
  const make = (role: StaffRole, connectionString: string | undefined) =>
    connectionString === undefined
      ? undefined
      : createEndpoint({
          role,
          logger,
          pool: makePool({
            connectionString,
            role: `exchange_${role}`,
            applicationName: `pgmarkets graphql ${role}`,
            max: GRAPHQL_POOL_SIZE,
            connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
            lockTimeoutMs: LOCK_TIMEOUT_MS,
            statementTimeoutMs: STATEMENT_TIMEOUT_MS,
            onIdleError: (error) => {
              logger.warn({ error }, "an idle database connection was lost");
            },
          }),
        });
  return {
    analysts: make("analyst", analystConnectionString),
    operators: make("operator", operatorConnectionString),
  };
}

/** One after the other, since each keeps the process busy for a while. */
async function prepareInTurn(endpoints: (GraphqlEndpoint | undefined)[]): Promise<void> {
  for (const endpoint of endpoints) await endpoint?.prepare();
}

/** Serves the database of pools that act as exchange_api, or of one for everything. */
export async function serve(
  given: Pool | ServerPools,
  config: ListeningConfig,
  logger: Logger,
  graphql: GraphqlEndpoints = {},
  front?: Front,
  website?: Website,
): Promise<Service> {
  const pools = "orders" in given ? given : asServerPools(given);
  const { listenDatabaseUrl: listenUrl, publicUrl } = config;
  const services = makeServices(pools, logger, { listenUrl, graphql, publicUrl });
  await services.streams.start();
  const { metricsPort, metricsHost = "127.0.0.1", trustProxy } = config;
  const metricsElsewhere = metricsPort !== undefined;
  const app = makeApp({ services, trustProxy, metricsElsewhere, website });
  const listener = front?.handOver(app) ?? (await listen(app, config));
  const metricsListener =
    metricsPort === undefined
      ? undefined
      : await listen(makeMetricsApp(services), { port: metricsPort, host: metricsHost });
  const endpoints = [graphql.analysts, graphql.operators];
  void prepareInTurn(endpoints);
  return {
    url: listener.url,
    metricsUrl: metricsListener?.url,
    services,
    close: async () => {
      const closed = listener.close();
      services.streams.end();
      await closed;
      await metricsListener?.close();
      // A client that hung up may have left an order behind.
      await services.orderGatherer.drained();
      await services.outboxRelay.close();
      await services.streams.close();
      for (const endpoint of endpoints) await endpoint?.close();
      await endPools(pools);
    },
  };
}
