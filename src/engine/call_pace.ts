import type { Later } from "../later.ts";

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
export interface CallPace {
  /** A shared call is over. */
  note: (tookMs: number) => void;
  /** Whether orders have waited enough that came at this time. If not, says when they have. */
  isOver: (since: number) => boolean;
}

export interface CallPaceOptions {
  now: () => number;
  later: Later;
  /** Called when orders have waited enough. */
  onOver: () => void;
}

export function createCallPace({ now, later, onOver }: CallPaceOptions): CallPace {
  let meanMs = 0;
  let isTimed = false;

  function startTimer(ms: number): void {
    if (isTimed) return;
    isTimed = true;
    later(() => {
      isTimed = false;
      onOver();
    }, ms);
  }

  return {
    note: (tookMs) => {
      meanMs += (Math.min(tookMs, LONGEST_WAIT_MS) - meanMs) * SHARE_OF_A_CALL;
    },
    isOver: (since) => {
      const remainingMs = since + meanMs - now();
      if (remainingMs > 0) startTimer(remainingMs);
      return remainingMs <= 0;
    },
  };
}
