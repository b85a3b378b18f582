import { wasSlow } from "./choose_orders.ts";

/**
 * Long calls of one process that placed nothing: all others of their markets have waited for nothing.
 * So the others go first for a while, above all before the users of such calls.
 */
export interface Walks {
  /** A `single` call took so long, and what it brought is rejected. */
  note: (call: SingleCall, tookMs: number) => void;
  /** Whether the user has had such a call in the market. */
  hasWalked: (marketId: string, userId: string) => boolean;
  /** How long it is, in milliseconds, until a `single` call may begin; 0 or less: it may. */
  restMs: (call: SingleCall) => number;
  /** For a command that makes a `single` call until it is finished. */
  watch: (call: SingleCall) => Watch;
}

export interface Watch {
  /** Measures an attempt of the call. */
  time: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Notes the last attempt if it was slow, and the command is rejected. */
  end: (isRejected: boolean) => void;
}

export interface WalksOptions {
  /** A call that takes longer for little work is slow; see choose_orders.ts. */
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

  function watch(call: SingleCall): Watch {
    let tookMs = 0;
    return {
      time: async (attempt) => {
        const began = now();
        const result = await attempt();
        tookMs = now() - began;
        return result;
      },
      end: (isRejected) => {
        if (isRejected && wasSlow(tookMs, 1, slowMs)) note(call, tookMs);
      },
    };
  }

  return {
    hasWalked,
    note,
    watch,
    restMs: ({ marketIds, userIds }) =>
      Math.max(0, ...marketIds.map((marketId) => restOf(marketId, userIds))),
  };
}
