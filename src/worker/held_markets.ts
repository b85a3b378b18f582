/** The markets that somebody was found to hold, for as long as it makes no sense to try again. */
export interface HeldMarkets {
  /** Those that are to be passed over now. */
  list: () => number[];
  /** It was found locked. */
  hold: (market: number) => void;
  /** It was found free. */
  release: (market: number) => void;
}

/** A market that was found locked is tried again after the first, and in the end after the last. */
const FIRST_PAUSE_MS = 125;
const LONGEST_PAUSE_MS = 1000;

interface Held {
  until: number;
  pauseMs: number;
}

export interface HeldMarketsOptions {
  /** Told once of each market that stays locked for seconds. */
  onLong: (market: number) => void;
  /** In milliseconds. */
  now?: () => number;
}

/** Remembers them for one process. */
export function makeHeldMarkets(options: HeldMarketsOptions): HeldMarkets {
  const { onLong, now = () => performance.now() } = options;
  const markets = new Map<number, Held>();
  return {
    list: () => {
      const at = now();
      return [...markets].filter(([, { until }]) => until > at).map(([market]) => market);
    },
    hold: (market) => {
      const before = markets.get(market);
      if (before !== undefined && before.until > now()) return;
      const pauseMs =
        before === undefined ? FIRST_PAUSE_MS : Math.min(2 * before.pauseMs, LONGEST_PAUSE_MS);
      if (pauseMs === LONGEST_PAUSE_MS && before?.pauseMs !== pauseMs) onLong(market);
      markets.set(market, { until: now() + pauseMs, pauseMs });
    },
    release: (market) => {
      markets.delete(market);
    },
  };
}
