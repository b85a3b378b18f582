import pg from "pg";
import type { Client, Pool, PoolConfig } from "pg";
import { clientOfPrimary, splitHosts } from "./hosts.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
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
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** How long `connect()` may wait for a free connection. */
  connectionTimeoutMs?: number;
  /** How long a connection is kept that nobody uses. */
  idleTimeoutMs?: number;
  /** Told when an idle connection is lost. The pool replaces it by itself. */
  onIdleError?: (error: Error) => void;
}

/**
 * A pool whose sessions act as one role from their first statement on: the role is a startup
 * option, so there is no moment at which a session is still the login, and `reset role` falls
 * back to the role.
 */
export function makePool(options: PoolOptions): Pool {
  if (options.role !== undefined && /[?&]options=/.test(options.connectionString)) {
    // pg lets the connection string win over everything else, and the role would be lost silently.
    throw new DatabaseNotReadyError(
      "DATABASE_URL must not contain `options`: the server sets the role there",
    );
  }
  const startup = [
    ["role", options.role],
    ["statement_timeout", options.statementTimeoutMs],
    ["lock_timeout", options.lockTimeoutMs],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`-c ${name ?? ""}=${value}`]));

  const config: PoolConfig = {
    ...addressOf(options.connectionString),
    application_name: options.applicationName ?? "pgmarkets",
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 10_000,
    idleTimeoutMillis: options.idleTimeoutMs ?? 30_000,
    keepAlive: true,
    types: databaseTypes,
  };
  if (startup.length > 0) config.options = startup.join(" ");

  const pool = new pg.Pool(config);
  // Without a listener, a connection that is lost while idle would end the process.
  pool.on("error", options.onIdleError ?? (() => undefined));
  // Likewise one that is lost while in use: whoever uses it is told by the query's own failure.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

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
