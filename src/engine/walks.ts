import pg from "pg";

/**
 * Long calls of one process that placed nothing: all others of their markets have waited for nothing.
 * So the others go first for a while, above all before the users of such calls.
 */
export interface Walks {
  /** How long it is, in milliseconds, until a `single` call may begin. */
  restMs: (call: SingleCall) => number;
  /** Makes a `single` call. What was long and is rejected, or ends by its time, has walked. */
  watch: <T>(
    call: SingleCall,
    attempt: () => Promise<T>,
    isRejected: (result: T) => boolean,
  ) => Promise<T>;
}

/** Of a call of the rung `single`. */
export interface SingleCall {
  marketIds: string[];
  userIds: string[];
}

/** So many times as long as a walk pass before the next single call of the market. */
const REST = { ofOthers: 3, ofWalkers: 40 };
const WALKER_FOR_MS = 60_000;
/** A call may have waited so long for the locks of short calls, as a rule. */
const LOCK_WAIT_MS = 20;
/** What took longer waited for something else as well. Others rest less long than a request waits. */
const LONGEST_WALK_MS = 1000;
/** The SQLSTATE of a call that lasted as long as a statement may. */
const QUERY_CANCELED = "57014";

/** `now` returns milliseconds, by a clock that never goes back. */
export function createWalks(now: () => number): Walks {
  /** Until when single calls of a market rest: those of walkers, and those of others. */
  const markets = new Map<string, { walkers: number; others: number }>();
  /** Until when users of walks rest in all markets, and until when they count as walkers. */
  const walkers = new Map<string, { rests: number; walks: number }>();

  /** Forgets walks of long ago. */
  function sweep(at: number): void {
    for (const [marketId, rest] of markets) if (rest.walkers <= at) markets.delete(marketId);
    for (const [userId, { walks }] of walkers) if (walks <= at) walkers.delete(userId);
  }

  function note({ marketIds, userIds }: SingleCall, tookMs: number): void {
    const walkedMs = Math.min(tookMs - LOCK_WAIT_MS, LONGEST_WALK_MS);
    if (walkedMs <= 0) return;
    const at = now();
    const rests = at + REST.ofWalkers * walkedMs;
    sweep(at);
    for (const marketId of marketIds) {
      const before = markets.get(marketId);
      markets.set(marketId, {
        walkers: Math.max(before?.walkers ?? 0, rests),
        others: Math.max(before?.others ?? 0, at + REST.ofOthers * walkedMs),
      });
    }
    for (const userId of userIds) {
      const before = walkers.get(userId)?.rests ?? 0;
      walkers.set(userId, { rests: Math.max(before, rests), walks: at + WALKER_FOR_MS });
    }
  }

  return {
    restMs: ({ marketIds, userIds }) => {
      const at = now();
      const own = userIds.map((userId) => walkers.get(userId)?.rests ?? 0);
      const isWalker = userIds.some((userId) => (walkers.get(userId)?.walks ?? 0) > at);
      const here = marketIds.map((id) => markets.get(id)?.[isWalker ? "walkers" : "others"] ?? 0);
      return Math.max(at, ...own, ...here) - at;
    },
    watch: async (call, attempt, isRejected) => {
      const began = now();
      try {
        const result = await attempt();
        if (isRejected(result)) note(call, now() - began);
        return result;
      } catch (error) {
        const isOver = error instanceof pg.DatabaseError && error.code === QUERY_CANCELED;
        if (isOver) note(call, now() - began);
        throw error;
      }
    },
  };
}
