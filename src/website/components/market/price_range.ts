/** Parts of a market's history that the chart can show. */

export type Range = "1h" | "1d" | "1w" | "all";

type Interval = "1m" | "1h" | "1d";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const lengthsMs: Record<Interval, number> = { "1m": MINUTE_MS, "1h": HOUR_MS, "1d": DAY_MS };

const ranges: Record<Range, { interval: Interval; spanMs: number | undefined; words: string }> = {
  "1h": { interval: "1m", spanMs: HOUR_MS, words: "in the last hour" },
  "1d": { interval: "1h", spanMs: DAY_MS, words: "in the last day" },
  "1w": { interval: "1h", spanMs: 7 * DAY_MS, words: "in the last week" },
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
  const from = axisOf(range, now).from;
  const { interval } = ranges[range];
  return from === undefined ? { interval } : { interval, from: new Date(from).toISOString() };
}

/** The time axis of a range: how long a bucket is, and where the first one begins. */
export function axisOf(
  range: Range,
  now: number,
): { intervalMs: number; from: number | undefined } {
  const { interval, spanMs } = ranges[range];
  const intervalMs = lengthsMs[interval];
  if (spanMs === undefined) return { intervalMs, from: undefined };
  return { intervalMs, from: Math.floor((now - spanMs) / intervalMs) * intervalMs };
}

/** What a chart shows, for those who can't see it. */
export function describeChart(range: Range, prices: number[]): string {
  const [first, last] = [prices[0], prices.at(-1)];
  const { words } = ranges[range];
  if (first === undefined || last === undefined) return `No trades ${words}`;
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  return `Chance of YES ${words}: from ${first}% to ${last}%, between ${low}% and ${high}%`;
}
