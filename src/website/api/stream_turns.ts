import { sharedTurns } from "./turns.ts";
import type { Locks, TakeTurn } from "./turns.ts";

/**
 * Who may have a stream. Over HTTP/1.1 a browser allows a site six connections in all its windows,
 * and each stream holds one. So that orders and other requests get through, there are at most the
 * user's stream and those of three markets. Browsers have locks only on pages that came by TLS or
 * from this computer; elsewhere each page has streams of its own.
 */

const locks: Locks | undefined = (navigator as Partial<Navigator>).locks;

/** Of all windows of this browser, one has the user's stream. */
export const userTurn = turns(["pgmarkets.user-stream"]);

/** Of pages of visitors who are not signed in, one has the stream of a market's status. */
export const statusTurn = hasManyStreams() ? undefined : turns(["pgmarkets.status-stream"]);

/** How many pages follow a market at the same time. */
export const MOST_MARKET_STREAMS = 3;

export const marketTurn = hasManyStreams()
  ? undefined
  : turns(Array.from({ length: MOST_MARKET_STREAMS }, (_, at) => `pgmarkets.market-stream-${at}`));

/** Turns by these names that the windows of this browser share; undefined where they cannot. */
export function turns(names: string[]): TakeTurn | undefined {
  return locks === undefined ? undefined : sharedTurns(locks, names);
}

/** Over HTTP/2 and later, streams and requests share one connection. */
function hasManyStreams(): boolean {
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return entry?.nextHopProtocol === "h2" || entry?.nextHopProtocol === "h3";
}
