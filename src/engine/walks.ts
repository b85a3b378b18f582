/** A call is slow if it took longer than this, and longer than a fifth of this for each order. */
const SLOW_MS = 50;

/** Whether a call took long for so many orders. */
export function wasSlow(milliseconds: number, orders: number, slowMs = SLOW_MS): boolean {
  return milliseconds > slowMs && milliseconds / orders > slowMs / 5;
}

/**
 * Long calls of one process that placed nothing: all others of their markets have waited for nothing.
 * So the others go first for a while, above all before the users of such calls.
 */
export interface Walks {
  /** Whether the user has had such a call in the market. */
  hasWalked: (marketId: string, userId: string) => boolean;
  /** How long it is, in milliseconds, until a `single` call may begin; 0 or less: it may. */
  restMs: (call: SingleCall) => number;
  /** Makes a `single` call. What was slow and is rejected has walked. */
  watch: <T>(
    call: SingleCall,
    attempt: () => Promise<T>,
    isRejected: (result: T) => boolean,
  ) => Promise<T>;
}

export interface WalksOptions {
  /** A call that takes longer is slow; see wasSlow. */
  slowMs?: number | undefined;
  /** In milliseconds, by a clock that never goes back. */
  now?: () => number;
}

/** Of a call of the rung `single`. */
export interface SingleCall {
  marketIds: string[];
  userIds: string[];
}

/** What walks have left behind in a market. */
interface Walked {
  /** Until when single calls of walkers rest, and those of others. */
  walkersRest: number;
  othersRest: number;
  /** The users of walks, until when they count as such. */
  walkers: Map<string, number>;
}

/** So many times as long as a walk pass before the next single call of the market. */
const REST = { ofOthers: 3, ofWalkers: 40 };
const WALKER_FOR_MS = 60_000;
/** What took longer waited for something else as well. Others rest less long than a request waits. */
const LONGEST_WALK_MS = 1000;

export function createWalks(options: WalksOptions = {}): Walks {
  const { slowMs, now = () => performance.now() } = options;
  const markets = new Map<string, Walked>();

  function hasWalked(marketId: string, userId: string): boolean {
    return (markets.get(marketId)?.walkers.get(userId) ?? 0) > now();
  }

  function restOf(marketId: string, userIds: string[]): number {
    const walked = markets.get(marketId);
    if (walked === undefined) return 0;
    const isWalker = userIds.some((userId) => hasWalked(marketId, userId));
    return (isWalker ? walked.walkersRest : walked.othersRest) - now();
  }

  /** Forgets walks of long ago. */
  function sweep(): void {
    for (const [marketId, { walkers }] of markets) {
      for (const [userId, until] of walkers) if (until <= now()) walkers.delete(userId);
      if (walkers.size === 0) markets.delete(marketId);
    }
  }

  function note({ marketIds, userIds }: SingleCall, tookMs: number): void {
    sweep();
    const endedAt = now();
    const longMs = Math.min(tookMs, LONGEST_WALK_MS);
    for (const marketId of marketIds) {
      const before = markets.get(marketId) ?? { walkersRest: 0, othersRest: 0, walkers: new Map() };
      for (const userId of userIds) before.walkers.set(userId, endedAt + WALKER_FOR_MS);
      markets.set(marketId, {
        ...before,
        walkersRest: Math.max(before.walkersRest, endedAt + REST.ofWalkers * longMs),
        othersRest: Math.max(before.othersRest, endedAt + REST.ofOthers * longMs),
      });
    }
  }

  return {
    hasWalked,
    watch: async (call, attempt, isRejected) => {
      const began = now();
      const result = await attempt();
      const tookMs = now() - began;
      if (wasSlow(tookMs, 1, slowMs) && isRejected(result)) note(call, tookMs);
      return result;
    },
    restMs: ({ marketIds, userIds }) =>
      Math.max(0, ...marketIds.map((marketId) => restOf(marketId, userIds))),
  };
}
