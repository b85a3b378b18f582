import type { Pool } from "pg";
import type { Logger } from "pino";
import { makeApp, makeMetricsApp } from "./app.ts";
import type { Config } from "./config.ts";
import { checkDatabase } from "./database/migrations.ts";
import { makePool } from "./database/pools.ts";
import { listen } from "./http/listener.ts";
import { makeServices } from "./services.ts";
import type { Services } from "./services.ts";
import { version } from "./version.ts";

/** Where to listen, to clients and to the database, and whom to believe. */
type ListeningConfig = Pick<Config, "host" | "port" | "trustProxy"> &
  Partial<Pick<Config, "listenDatabaseUrl" | "metricsHost" | "metricsPort">>;

export interface ServiceOptions {
  /** A login that is or may become exchange_api. */
  connectionString: string;
  config: ListeningConfig & Pick<Config, "poolSize">;
  logger: Logger;
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
  const pool = makePool({
    connectionString: options.connectionString,
    role: "exchange_api",
    applicationName: "pgmarkets api",
    max: config.poolSize,
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: (error) => {
      logger.warn({ error }, "an idle database connection was lost");
    },
  });
  try {
    const database = await checkDatabase(pool);
    logger.info({ version, node: process.versions.node, database }, "starting to serve");
    return await serve(pool, config, logger);
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Serves the database of a pool that acts as exchange_api. */
export async function serve(pool: Pool, config: ListeningConfig, logger: Logger): Promise<Service> {
  const services = makeServices(pool, logger, config.listenDatabaseUrl);
  await services.streams.start();
  const { metricsPort, metricsHost = "127.0.0.1", trustProxy } = config;
  const app = makeApp({ services, trustProxy, metricsElsewhere: metricsPort !== undefined });
  const listener = await listen(app, config);
  const metricsListener =
    metricsPort === undefined
      ? undefined
      : await listen(makeMetricsApp(services), { port: metricsPort, host: metricsHost });
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
      await services.orderBatcher.drained();
      await services.announcer.close();
      await services.streams.close();
      await pool.end();
    },
  };
}
