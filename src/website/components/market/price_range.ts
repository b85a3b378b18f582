/** Parts of a market's history that the chart can show. */

export type Range = "1h" | "1d" | "1w" | "all";

type Interval = "1m" | "1h" | "1d";

const HOUR_MS = 3_600_000;

const ranges: Record<Range, { interval: Interval; spanMs: number | undefined; words: string }> = {
  "1h": { interval: "1m", spanMs: HOUR_MS, words: "in the last hour" },
  "1d": { interval: "1h", spanMs: 24 * HOUR_MS, words: "in the last day" },
  "1w": { interval: "1h", spanMs: 7 * 24 * HOUR_MS, words: "in the last week" },
  all: { interval: "1d", spanMs: undefined, words: "since it opened" },
};

export const rangeOptions = [
  { value: "1h", label: "1 h" },
  { value: "1d", label: "1 d" },
  { value: "1w", label: "1 w" },
  { value: "all", label: "All" },
] as const;

/** The query for the candles of a range. */
export function candlesQuery(range: Range, now: number): { interval: Interval; from?: string } {
  const { interval, spanMs } = ranges[range];
  if (spanMs === undefined) return { interval };
  return { interval, from: new Date(now - spanMs).toISOString() };
}

/** What a chart shows, for those who can't see it. */
export function describeChart(range: Range, closes: number[]): string {
  const [first, last] = [closes[0], closes.at(-1)];
  const { words } = ranges[range];
  if (first === undefined || last === undefined) return `No trades ${words}`;
  const [low, high] = [Math.min(...closes), Math.max(...closes)];
  return `Chance of YES ${words}: from ${first}% to ${last}%, between ${low}% and ${high}%`;
}
