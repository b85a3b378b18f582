import type { PoolClient } from "pg";
import { call } from "./api.ts";

/**
 * The calls of the database's `jobs` functions. Those that return a number did one piece of what
 * there is to do, and say how much that was: 0 means that nothing is left.
 */

/** Has this connection compile and plan what its first release needs. */
export async function warmUp(client: PoolClient): Promise<void> {
  await call(client, "warm_up", "select jobs.warm_up()", []);
}

/** In how many milliseconds something is due: below 0 when it is overdue, null when nothing is. */
export interface NextDue {
  release: number | null;
  expire: number | null;
  close: number | null;
}

/** Markets to leave out, since they were found locked a moment ago. */
type PassingOver = readonly number[];

/** When the next scheduled order is due, the next order expires, and the next market closes. */
export async function nextDue(client: PoolClient, passingOver: PassingOver): Promise<NextDue> {
  const [row] = await call<NextDue>(
    client,
    "next_due",
    `select release_in_ms as release, expire_in_ms as expire, close_in_ms as close
     from jobs.next_due(passing_over => $1)`,
    [passingOver],
  );
  return row ?? { release: null, expire: null, close: null };
}

/** The markets where something of a kind is due, those that have waited longest first. */
export type ListDue = (client: PoolClient, passingOver: PassingOver) => Promise<number[]>;

/** Markets of scheduled orders whose release is due. */
export const dueReleases: ListDue = (client, passingOver) =>
  listMarkets(client, "due_releases", passingOver);

/** Markets of resting orders that are past their expiry. */
export const dueExpiries: ListDue = (client, passingOver) =>
  listMarkets(client, "due_expiries", passingOver);

/** Markets that are past their close time. */
export const dueClosings: ListDue = (client, passingOver) =>
  listMarkets(client, "due_closings", passingOver);

/**
 * Does one piece of what is due in a market, and says how much that was. Undefined when the market
 * is locked: `waits` says whether to stand in line for it for a moment.
 */
export type DoInMarket = (
  client: PoolClient,
  marketId: number,
  waits: boolean,
) => Promise<number | undefined>;

/** Releases what is due of a market's scheduled orders. */
export const releaseOrders: DoInMarket = (client, marketId, waits) =>
  doInMarket(client, "release_orders", marketId, waits);

/** Cancels resting orders of a market that are past their expiry. */
export const expireOrders: DoInMarket = (client, marketId, waits) =>
  doInMarket(client, "expire_orders", marketId, waits);

/** Closes a market that is past its close time, or cancels some of its orders. */
export const closeMarkets: DoInMarket = (client, marketId, waits) =>
  doInMarket(client, "close_markets", marketId, waits);

/** Looks at orders that may be due for the archive, and moves those that are. */
export async function archiveOrders(client: PoolClient): Promise<number> {
  return await count(client, "archive_orders");
}

/** Removes idempotency keys that stand for no order any more. */
export async function removeKeys(client: PoolClient): Promise<number> {
  return await count(client, "remove_keys");
}

/** Removes events that servers have read long since. */
export async function removeSentEvents(client: PoolClient): Promise<number> {
  return await count(client, "remove_sent_events");
}

/** Removes sessions that have expired. */
export async function removeSessions(client: PoolClient): Promise<number> {
  return await count(client, "remove_sessions");
}

/** Removes counters of requests that count nothing any more. */
export async function removeCounters(client: PoolClient): Promise<number> {
  return await count(client, "remove_counters");
}

const VERIFICATION_TIMEOUT_MS = 6 * 3_600_000;

/** Proves the ledger and keeps what came of it; how many invariants are broken. */
export async function verifyLedger(client: PoolClient): Promise<number> {
  const [row] = await call<{ count: number }>(
    client,
    "verify_ledger",
    "select jobs.verify_ledger() as count",
    [],
    VERIFICATION_TIMEOUT_MS,
  );
  return row?.count ?? 0;
}

/** A market is settled as a whole, however many positions it has. */
const REFRESH_TIMEOUT_MS = 600_000;

/** Brings the leaderboard up to date, or a part of the way when there is much. */
export async function refreshLeaderboard(client: PoolClient): Promise<number> {
  const [row] = await call<{ count: number }>(
    client,
    "refresh_leaderboard",
    "select jobs.refresh_leaderboard(pause => '10 ms') as count",
    [],
    REFRESH_TIMEOUT_MS,
  );
  return row?.count ?? 0;
}

async function listMarkets(
  client: PoolClient,
  name: string,
  passingOver: PassingOver,
): Promise<number[]> {
  const rows = await call<{ market_id: number }>(
    client,
    name,
    `select market_id from jobs.${name}(passing_over => $1) as market_id`,
    [passingOver],
  );
  return rows.map((row) => row.market_id);
}

async function doInMarket(
  client: PoolClient,
  name: string,
  marketId: number,
  waits: boolean,
): Promise<number | undefined> {
  const [row] = await call<{ count: number | null }>(
    client,
    name,
    `select jobs.${name}(market_id => $1, waits => $2) as count`,
    [marketId, waits],
  );
  return row?.count ?? undefined;
}

async function count(client: PoolClient, name: string): Promise<number> {
  const rows = await call<{ count: number }>(client, name, `select jobs.${name}() as count`, []);
  return rows[0]?.count ?? 0;
}
