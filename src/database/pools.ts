import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client, Pool, PoolClient, PoolConfig } from "pg";
import type { Logger } from "pino";
import { hasOwnOptions } from "../config.ts";
import { cut } from "./cut.ts";
import { clientOfPrimary, splitHosts } from "./hosts.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { ownSearchPath, setLateSettings, startupOptions } from "./session_settings.ts";
import { databaseTypes } from "./types.ts";

/** The roles that the database knows; each pool acts as one of them. */
export type DatabaseRole =
  "exchange_owner" | "exchange_api" | "exchange_worker" | "exchange_operator" | "exchange_analyst";

export interface PoolOptions {
  /** With several hosts, sessions are those of the one that takes writes. */
  connectionString: string;
  /** The role of the pool's sessions. Without it, they act as the login. */
  role?: DatabaseRole;
  /** More settings of the pool's sessions. */
  settings?: Record<string, string>;
  applicationName?: string;
  max?: number;
  /** Connections that are kept when idle: see {@link openMinimum}. */
  min?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** A query whose answer has not come by then fails, though the server stands still. */
  queryTimeoutMs?: number;
  /** How long `connect()` may wait for a free connection. */
  connectionTimeoutMs?: number;
  /** How long an idle connection is kept. */
  idleTimeoutMs?: number;
  /** What a new connection does before the pool uses it. Errors of the database are ignored. */
  warmUp?: ((client: PoolClient) => Promise<void>) | undefined;
  /** Gets a warning for each idle connection that is lost. The pool replaces it by itself. */
  logger?: Pick<Logger, "warn">;
}

/**
 * A pool whose sessions act as one role from their first statement on. The role is a startup option,
 * so a session is never the login, and `reset role` returns to the role. Settings that matter are
 * startup options too, and so overrule those of the database and the login.
 */
export function makePool(options: PoolOptions): Pool {
  if (options.role !== undefined && hasOwnOptions(options.connectionString)) {
    // In pg the connection string overrules other options, so the role would be lost silently. The
    // configuration rejects it in every other variable.
    throw new DatabaseNotReadyError(
      "DATABASE_URL must not contain `options`: the server sets the role there",
    );
  }
  const { statementTimeoutMs = 0, lockTimeoutMs = 0, role, warmUp } = options;
  const settings = {
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    ...(role !== undefined && { role, ...ownSearchPath, ...idleTransactions }),
    ...options.settings,
  };

  async function prepare(client: PoolClient): Promise<void> {
    await setLateSettings(client);
    await warmUp?.(client).catch((error: unknown) => {
      // Other checks report errors of the database. A lost connection is of no use to the pool.
      if (!(error instanceof pg.DatabaseError)) throw error;
    });
  }

  const config: PoolConfig = {
    ...addressOf(options.connectionString),
    application_name: options.applicationName ?? "pgmarkets",
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 10_000,
    idleTimeoutMillis: options.idleTimeoutMs ?? 30_000,
    keepAlive: true,
    types: databaseTypes,
    ...(options.min !== undefined && { min: options.min }),
    ...(options.queryTimeoutMs !== undefined && { query_timeout: options.queryTimeoutMs }),
    ...(!hasOwnOptions(options.connectionString) && { options: startupOptions(settings) }),
    // The pool waits for it, against its types.
    onConnect: prepare as unknown as NonNullable<PoolConfig["onConnect"]>,
  };

  const pool = new pg.Pool(config);
  // Without a listener, a connection that is lost while idle would end the process.
  pool.on("error", (error) => {
    options.logger?.warn({ error }, "an idle database connection was lost");
  });
  // The same holds for one that is lost in use. Its query fails by itself.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** A session that is idle in a transaction for this long is closed. */
const idleTransactions = { idle_in_transaction_session_timeout: "60s" };

/** Parts of pg's pool that its types lack. */
interface OpenablePool {
  options: { min: number };
  _clients: Client[];
  newClient: (item: {
    callback: (error: Error | undefined, client: unknown, release: () => void) => void;
  }) => void;
}

/** How long to wait after a connection could not be opened. */
const REOPEN_MS = 500;

/**
 * Opens and warms up as many connections as the pool keeps, and from then on a new one for each that
 * is lost. Resolves when all have been tried. Callers use idle connections meanwhile, and do not wait
 * for the new ones.
 */
export async function openMinimum(pool: Pool): Promise<void> {
  const inner = pool as unknown as OpenablePool;
  let retrying: NodeJS.Timeout | undefined;

  const openOne = (): Promise<void> =>
    new Promise((resolve) => {
      inner.newClient({
        callback: (error, _client, release) => {
          if (error) retryLater();
          else release();
          resolve();
        },
      });
    });

  async function fill(): Promise<void> {
    const missing = pool.ending ? 0 : inner.options.min - pool.totalCount;
    await Promise.all(Array.from({ length: Math.max(0, missing) }, openOne));
  }

  function retryLater(): void {
    retrying ??= setTimeout(() => {
      retrying = undefined;
      void fill();
    }, REOPEN_MS).unref();
  }

  pool.on("remove", () => void fill());
  await fill();
}

/** Ends a pool and cuts those of its connections that are in use or being made. */
export async function abandonPool(pool: Pool): Promise<void> {
  const ended = pool.ending ? undefined : pool.end();
  cutConnections(pool);
  // pg does not report the end of some connections that were cut while they were being made.
  await Promise.race([ended, delay(CUTTING_MS)]);
}

const CUTTING_MS = 250;

/** Cuts the connections of a pool: what is under way on them fails, and the next calls make new ones. */
export function cutConnections(pool: Pool): void {
  for (const client of (pool as unknown as OpenablePool)._clients) cut(client);
}

/** A client with the settings and the role of a pool, maybe by another address. Not connected yet. */
export function makeLoneClient(
  { options }: Pool,
  applicationName: string,
  connectionString?: string,
): Client {
  const { Client: OwnClient, ...settings } = {
    ...options,
    application_name: applicationName,
    ...(connectionString !== undefined && { Client: undefined, ...addressOf(connectionString) }),
  };
  return new ((OwnClient ?? pg.Client) as new (config: object) => Client)(settings);
}

/** Where the sessions of a pool go, in its own terms. */
function addressOf(connectionString: string): Pick<PoolConfig, "Client" | "connectionString"> {
  const hosts = splitHosts(connectionString);
  return hosts.length > 1 ? { Client: clientOfPrimary(hosts) } : { connectionString };
}
