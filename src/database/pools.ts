import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client, Pool, PoolClient, PoolConfig } from "pg";
import { hasOwnOptions } from "../config.ts";
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
  /** Who the pool's sessions act as. Without it: as the login itself. */
  role?: DatabaseRole;
  applicationName?: string;
  max?: number;
  /** Connections that are kept however long nobody uses them: see {@link openMinimum}. */
  min?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** How long `connect()` may wait for a free connection. */
  connectionTimeoutMs?: number;
  /** How long a connection is kept that nobody uses. */
  idleTimeoutMs?: number;
  /** What a new connection does before the pool uses it. A failure of the database is no matter. */
  warmUp?: ((client: PoolClient) => Promise<void>) | undefined;
  /** Told when an idle connection is lost. The pool replaces it by itself. */
  onIdleError?: (error: Error) => void;
}

/**
 * A pool whose sessions act as one role from their first statement on: the role is a startup
 * option, so there is no moment at which a session is still the login, and `reset role` falls
 * back to the role. The settings that matter are startup options too: those that the database or
 * the login has don't count.
 */
export function makePool(options: PoolOptions): Pool {
  if (options.role !== undefined && hasOwnOptions(options.connectionString)) {
    // pg lets the connection string win over everything else, and the role would be lost silently.
    // The configuration has refused it in every other variable.
    throw new DatabaseNotReadyError(
      "DATABASE_URL must not contain `options`: the server sets the role there",
    );
  }
  const { statementTimeoutMs = 0, lockTimeoutMs = 0, role, warmUp } = options;
  const settings = {
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    ...(role !== undefined && { role, ...ownSearchPath, ...forgottenTransactions }),
  };

  async function prepare(client: PoolClient): Promise<void> {
    await setLateSettings(client);
    await warmUp?.(client).catch((error: unknown) => {
      // Whether the database is of use is for others to say; a lost connection is not.
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
    ...(!hasOwnOptions(options.connectionString) && { options: startupOptions(settings) }),
    // The pool waits for it, whatever its types say.
    onConnect: prepare as unknown as NonNullable<PoolConfig["onConnect"]>,
  };

  const pool = new pg.Pool(config);
  // Without a listener, a connection that is lost while idle would end the process.
  pool.on("error", options.onIdleError ?? (() => undefined));
  // Likewise one that is lost while in use: whoever uses it is told by the query's own failure.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** After this long in a transaction without a statement, whoever began it has forgotten it. */
const forgottenTransactions = { idle_in_transaction_session_timeout: "60s" };

/** What pg's client has and its types don't tell. */
interface CuttableClient {
  connection?: { stream: { destroy: () => void } };
}

/** What pg's pool has and its types don't tell. */
interface OpenablePool {
  options: { min: number };
  _clients: Client[];
  newClient: (item: {
    callback: (error: Error | undefined, client: unknown, release: () => void) => void;
  }) => void;
}

/** How long to wait before a connection is tried again that is to be kept. */
const REOPEN_MS = 500;

/**
 * Opens as many connections as the pool keeps, warm-up included, and from then on a new one for
 * each that is lost. Settles when all have been tried. New ones are opened beside those that are
 * idle: nobody who has something to do waits for them.
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

/** Cuts a connection, whatever it is at: its query fails, or its attempt to connect. */
export function cut(client: Client): void {
  (client as unknown as CuttableClient).connection?.stream.destroy();
}

/** Ends a pool and cuts those of its connections that are in use or being made. */
export async function abandonPool(pool: Pool): Promise<void> {
  const ended = pool.ending ? undefined : pool.end();
  for (const client of (pool as unknown as OpenablePool)._clients) cut(client);
  // pg tells nobody of the end of some that were cut while they were being made.
  await Promise.race([ended, delay(CUTTING_MS)]);
}

const CUTTING_MS = 250;

/**
 * A client of its own with the settings of a pool, role included, and perhaps another address of
 * the same database. Not connected yet.
 */
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
