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

/** When the next scheduled order is due, the next order expires, and the next market closes. */
export async function nextDue(client: PoolClient): Promise<NextDue> {
  const [row] = await call<NextDue>(
    client,
    "next_due",
    `select release_in_ms as release, expire_in_ms as expire, close_in_ms as close
     from jobs.next_due()`,
    [],
  );
  return row ?? { release: null, expire: null, close: null };
}

/** The markets of scheduled orders that are due, those that have waited longest first. */
export async function dueReleases(client: PoolClient): Promise<number[]> {
  const rows = await call<{ market_id: number }>(
    client,
    "due_releases",
    "select market_id from jobs.due_releases() as market_id",
    [],
  );
  return rows.map((row) => row.market_id);
}

/** Releases what is due of a market's scheduled orders, as much as is done in one piece. */
export async function releaseOrders(client: PoolClient, marketId: number): Promise<number> {
  const [row] = await call<{ count: number }>(
    client,
    "release_orders",
    "select jobs.release_orders(market_id => $1) as count",
    [marketId],
  );
  return row?.count ?? 0;
}

/** Cancels resting orders of one market that are past their expiry. */
export async function expireOrders(client: PoolClient): Promise<number> {
  return await count(client, "expire_orders");
}

/** Closes one market that is past its close time, or cancels some of its orders. */
export async function closeMarkets(client: PoolClient): Promise<number> {
  return await count(client, "close_markets");
}

/** Looks at orders that may be due for the archive, and moves those that are. */
export async function archiveOrders(client: PoolClient): Promise<number> {
  return await count(client, "archive_orders");
}

/** Removes idempotency keys that stand for no order any more. */
export async function removeKeys(client: PoolClient): Promise<number> {
  return await count(client, "remove_keys");
}

/** Removes payloads of announcements that were too long for a notification. */
export async function removeEventPayloads(client: PoolClient): Promise<number> {
  return await count(client, "remove_event_payloads");
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

async function count(client: PoolClient, name: string): Promise<number> {
  const rows = await call<{ count: number }>(client, name, `select jobs.${name}() as count`, []);
  return rows[0]?.count ?? 0;
}
