/** Markets that were found locked, until they are to be tried again. */
export interface HeldMarkets {
  /** Those that are passed over now. */
  list: () => number[];
  /** It was found locked. */
  hold: (market: number) => void;
  /** It was found free. */
  release: (market: number) => void;
}

/** The pause before the first new attempt. It doubles up to the longest. */
const FIRST_PAUSE_MS = 125;
const LONGEST_PAUSE_MS = 1000;

interface Held {
  until: number;
  pauseMs: number;
}

export interface HeldMarketsOptions {
  /** Called once for each market that stays locked for seconds. */
  onLong: (market: number) => void;
  /** In milliseconds. */
  now?: () => number;
}

/** The held markets of one process. */
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
