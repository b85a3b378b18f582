/** A price at a time, in milliseconds since 1970. */
export interface TimedPrice {
  time: number;
  price: number;
}

/** A part of the time axis; the price is undefined before the first one that is known. */
export interface Bucket {
  time: number;
  price: number | undefined;
}

interface Axis {
  /** How long each bucket is. */
  intervalMs: number;
  /** Where the axis begins; at the first price if undefined. */
  from: number | undefined;
  /** The axis ends with the bucket of this time, or with that of a later price. */
  now: number;
  /** The price before `from`, if it is known. */
  before: number | undefined;
}

/** More than a chart has points on the screen. */
const MOST = 2000;

/**
 * Divides a time axis into buckets of one length. A bucket has the last price in it, and one without
 * a price has that of the bucket before: the price stayed what it was. `prices` come oldest first.
 */
export function bucketsOf(prices: TimedPrice[], { intervalMs, from, now, before }: Axis): Bucket[] {
  const bucketAt = (time: number): number => Math.floor(time / intervalMs);
  const closes = new Map(prices.map(({ time, price }) => [bucketAt(time), price]));
  const times = prices.map(({ time }) => time);
  const last = bucketAt(Math.max(now, ...times.slice(-1)));
  const begin = bucketAt(from ?? times[0] ?? now);
  const first = Math.max(begin, last - MOST + 1);
  let price = before;
  for (const [bucket, close] of closes) if (bucket < first) price = close;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    price = closes.get(first + index) ?? price;
    return { time: (first + index) * intervalMs, price };
  });
}
