/** Orders that are worth a transaction of their own while another one is under way. */
export const ENOUGH_ORDERS = 50;

/** No order waits longer than this for the calls of others. */
const LONGEST_WAIT_MS = 50;

/** How much each call moves the mean. */
const SHARE_OF_A_CALL = 1 / 8;

/**
 * How long a few orders wait for the shared calls under way, to share the next one: no longer than
 * such a call takes. A transaction costs as much as several orders in it, and transactions at the
 * same time compete for processors and their caches.
 */
export function createCallPace() {
  let meanMs = 0;
  return {
    /** A shared call is over. */
    note: (tookMs: number): void => {
      meanMs += (Math.min(tookMs, LONGEST_WAIT_MS) - meanMs) * SHARE_OF_A_CALL;
    },
    /** How long an order that has waited so long should still wait. */
    remainingMs: (waitedMs: number): number => Math.max(0, meanMs - waitedMs),
  };
}
