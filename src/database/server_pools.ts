import type { Pool, PoolClient } from "pg";
import { call } from "./call.ts";
import { api } from "./calls.ts";
import { makePool, openMinimum } from "./pools.ts";
import type { PoolOptions } from "./pools.ts";

/**
 * The connections of a server process, in groups that can't starve each other: however many slow
 * reads there are, an order finds a connection, and however many orders wait for a lock, whether
 * the process is ready is answered.
 */
export interface ServerPools {
  /** Commands of traders. All of its connections are open and warm from the start. */
  orders: Pool;
  /** What traders and the public read. */
  reads: Pool;
  /** Who calls and how often they may: before everything else, and short. */
  gates: Pool;
  /** Readiness, figures, and sending what was announced: each asks once at a time. */
  monitoring: Pool;
}

/** How the connections of a server are shared out. */
const GATES = 2;
const MONITORING = 3;

/** How many connections each pool of a server has at most. */
export function sharesOf(poolSize: number): Record<keyof ServerPools, number> {
  const orders = Math.max(1, Math.min(poolSize - 1, Math.ceil((poolSize * 2) / 3)));
  return {
    orders,
    reads: Math.max(1, poolSize - orders),
    gates: GATES,
    monitoring: MONITORING,
  };
}

/** The pools of a server that is to serve: none of them is connected yet. */
export function makeServerPools(
  poolSize: number,
  options: Omit<PoolOptions, "role" | "max" | "min" | "warmUp">,
): ServerPools {
  const shares = sharesOf(poolSize);
  const make = (
    name: keyof ServerPools,
    min: number,
    warmUp?: (client: PoolClient) => Promise<void>,
  ): Pool => makePool({ ...options, role: "exchange_api", max: shares[name], min, warmUp });
  return {
    orders: make("orders", shares.orders, warmForOrders),
    reads: make("reads", 1),
    gates: make("gates", shares.gates, warmForGates),
    monitoring: make("monitoring", 1),
  };
}

/** One pool for everything: for tests and measurements, where nobody starves anybody. */
export function asServerPools(pool: Pool): ServerPools {
  return { orders: pool, reads: pool, gates: pool, monitoring: pool };
}

/** Each pool once, by the first of its names. */
export function listPools(pools: ServerPools): [name: string, pool: Pool][] {
  const named = new Map<Pool, string>();
  for (const [name, pool] of Object.entries(pools) as [string, Pool][]) {
    if (!named.has(pool)) named.set(pool, name);
  }
  return [...named].map(([pool, name]) => [name, pool]);
}

/** Opens what is to be open before the first request, and keeps it open. */
export async function openPools(pools: ServerPools): Promise<void> {
  await Promise.all(listPools(pools).map(([, pool]) => openMinimum(pool)));
}

export async function endPools(pools: ServerPools): Promise<void> {
  await Promise.all(listPools(pools).map(([, pool]) => pool.end()));
}

const NOTHING = "00000000-0000-0000-0000-000000000000";

async function warmForOrders(client: PoolClient): Promise<void> {
  await call(client, api.warmUp, {});
  await call(client, api.placeOrders, { orders: [], atomic: false, waits: true });
}

/** As for a request that nobody made. */
async function warmForGates(client: PoolClient): Promise<void> {
  await call(client, api.authenticate, { keyHash: Buffer.alloc(32) });
  await client.query("begin");
  try {
    const counters = { v1: "warm-up", "v1-user": NOTHING, "v1-trading": NOTHING };
    await call(client, api.takeRequests, { requests: [counters] });
  } finally {
    await client.query("rollback");
  }
}
