import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import type { Config, ReadStandbys } from "../config.ts";
import { call } from "./call.ts";
import { ALL_ORDERS, api } from "./calls.ts";
import { splitHosts } from "./hosts.ts";
import { makePool, openMinimum } from "./pools.ts";
import type { DatabaseRole, PoolOptions } from "./pools.ts";
import { openStandbys } from "./standbys.ts";
import type { Standbys } from "./standbys.ts";

/**
 * The connections of a server process, in groups. Slow reads do not keep connections from orders, and
 * orders that wait for locks do not keep them from the readiness check.
 */
export interface ServerPools {
  /**
   * Commands of traders. All of its connections are open and warm from the start on. A call waits for
   * a lock only for a moment; see ../engine/ladder.ts.
   */
  orders: Pool;
  /** What traders and the public read. */
  reads: Pool;
  /** Authentication and rate limits: the short calls before everything else. */
  checks: Pool;
  /** Readiness, metrics and the outbox relay: each makes one call at a time. */
  monitoring: Pool;
}

/** For calls of requests. A command that takes long holds its locks for less than a second. */
export const timeLimits = {
  connectionTimeoutMs: 5000,
  lockTimeoutMs: 2000,
  statementTimeoutMs: 15_000,
};

/** Most commands hold their locks for milliseconds. */
const MOMENT_MS = 50;

const CHECKS = 3;
const MONITORING = 3;

/** How many connections each pool of a server has at most. */
export function sharesOf(poolSize: number): Record<keyof ServerPools, number> {
  const commands = Math.max(1, Math.min(poolSize - 1, Math.ceil((poolSize * 2) / 3)));
  return {
    orders: commands,
    reads: Math.max(1, poolSize - commands),
    checks: CHECKS,
    monitoring: MONITORING,
  };
}

export interface ServerPoolsOptions {
  /** A login that is or may become exchange_api. */
  connectionString: string;
  config: Pick<Config, "poolSize">;
  logger: Logger;
}

/** The pools of a server, not connected yet. */
export function makeServerPools({
  connectionString,
  config,
  logger,
}: ServerPoolsOptions): ServerPools {
  const shares = sharesOf(config.poolSize);
  const make = (
    name: keyof ServerPools,
    { min = 1, warmUp, ...limits }: Partial<PoolOptions> = {},
  ): Pool =>
    makePool({
      ...timeLimits,
      ...limits,
      connectionString,
      role: "exchange_api",
      applicationName: "pgmarkets api",
      max: shares[name],
      min,
      warmUp,
      logger,
    });
  return {
    orders: make("orders", {
      min: shares.orders,
      warmUp: warmForOrders,
      lockTimeoutMs: MOMENT_MS,
    }),
    reads: make("reads"),
    checks: make("checks", { min: shares.checks, warmUp: warmForChecks }),
    monitoring: make("monitoring"),
  };
}

export interface ReadStandbysOptions {
  given: ReadStandbys | undefined;
  /** Where the position of the primary is asked. */
  primary: Pool;
  /** What the sessions on the standbys act as. */
  role: DatabaseRole;
  applicationName: string;
  /** Connections to each standby. */
  max: number;
  /** A query on a standby that takes longer has failed. */
  queryTimeoutMs?: number;
  logger: Logger;
}

/** One that does not let a session in within this time is away. */
const STANDBY_CONNECTION_MS = 1000;

/** The standbys that the configuration names, if it does. */
export function openReadStandbys(options: ReadStandbysOptions): Standbys | undefined {
  const { given, primary, ...rest } = options;
  if (given === undefined) return undefined;
  const { longestLagMs } = given;
  const pools = splitHosts(given.connectionString).map((connectionString) =>
    makePool({
      ...timeLimits,
      connectionTimeoutMs: STANDBY_CONNECTION_MS,
      connectionString,
      ...rest,
    }),
  );
  return openStandbys({ primary, pools, longestLagMs, logger: rest.logger });
}

/** One pool for everything, for tests and measurements. */
export function asServerPools(pool: Pool): ServerPools {
  return { orders: pool, reads: pool, checks: pool, monitoring: pool };
}

/** Each pool once, by the first of its names. */
export function listPools(pools: ServerPools): [name: string, pool: Pool][] {
  const named = new Map<Pool, string>();
  for (const [name, pool] of Object.entries(pools) as [string, Pool][]) {
    if (!named.has(pool)) named.set(pool, name);
  }
  return [...named].map(([pool, name]) => [name, pool]);
}

/** Opens the connections that each pool keeps. */
export async function openPools(pools: ServerPools): Promise<void> {
  await Promise.all(listPools(pools).map(([, pool]) => openMinimum(pool)));
}

export async function endPools(pools: ServerPools): Promise<void> {
  await Promise.all(listPools(pools).map(([, pool]) => pool.end()));
}

const NOTHING = "00000000-0000-0000-0000-000000000000";

async function warmForOrders(client: PoolClient): Promise<void> {
  await call(client, api.warmUp, {});
  await call(client, api.runOrders, { ...ALL_ORDERS, orders: [] });
}

/** What a request needs, rolled back. */
async function warmForChecks(client: PoolClient): Promise<void> {
  await call(client, api.authenticate, {
    kinds: ["key", "token", "cookie"],
    hashes: Array.from({ length: 3 }, () => Buffer.alloc(32)),
    details: [null, null, null],
  });
  await client.query("begin");
  try {
    const counters = { v1: "warm-up", "v1-user": NOTHING };
    await call(client, api.countRequests, { requests: [counters] });
    await call(client, api.spendTokens, { userIds: [NOTHING], counts: [1] });
  } finally {
    await client.query("rollback");
  }
}
