/** Parts of a market's history that the chart can show. */

export type Range = "1h" | "1d" | "1w" | "1m" | "all";

export type Interval = "1m" | "1h" | "1d";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const lengthsMs: Record<Interval, number> = {
  "1m": MINUTE_MS,
  "1h": HOUR_MS,
  "1d": DAY_MS,
};

/** A day is 24 hours here, also where a clock is put back or forward, and a month is 30 days. */
const ranges: Record<Range, { spanMs: number | undefined; words: string }> = {
  "1h": { spanMs: HOUR_MS, words: "in the last hour" },
  "1d": { spanMs: DAY_MS, words: "in the last day" },
  "1w": { spanMs: 7 * DAY_MS, words: "in the last week" },
  "1m": { spanMs: 30 * DAY_MS, words: "in the last 30 days" },
  all: { spanMs: undefined, words: "since the first trade" },
};

export const rangeOptions = [
  { value: "1h", label: "1 h" },
  { value: "1d", label: "1 d" },
  { value: "1w", label: "1 w" },
  { value: "1m", label: "1 m" },
  { value: "all", label: "All" },
] as const;

/** When a range begins that ends at `to`; undefined for all that there is. */
export function startOf(range: Range, to: number): number | undefined {
  const { spanMs } = ranges[range];
  return spanMs === undefined ? undefined : to - spanMs;
}

/** What a chart shows first. A week of a younger market would be empty but for its end. */
export function firstRange(createdAt: number, to: number): Range {
  return createdAt > to - 7 * DAY_MS ? "all" : "1w";
}

/** The shortest candles of which one answer, of 1,000, has all of such a time. */
export function intervalFor(spanMs: number): Interval {
  // The first candle may have begun earlier, so there is one more.
  if (spanMs <= 999 * MINUTE_MS) return "1m";
  return spanMs <= 999 * HOUR_MS ? "1h" : "1d";
}

/** What a chart shows, for those who can't see it. */
export function describeChart(range: Range, prices: number[]): string {
  const [first, last] = [prices[0], prices.at(-1)];
  const { words } = ranges[range];
  if (first === undefined || last === undefined) return "No trades yet";
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  return `Price of YES ${words}: from ${first}% to ${last}%, between ${low}% and ${high}%`;
}
