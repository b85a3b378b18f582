/** A price at a time, in milliseconds since 1970. It holds until the next one. */
export interface TimedPrice {
  time: number;
  price: number;
}

/** The trades of a minute, an hour or a day. */
export interface Candle {
  start: number;
  close: number;
  volume: number;
}

/** What the server said of a market's trades. */
export interface History {
  /** Oldest first; intervals without a trade are left out. */
  candles: Candle[];
  intervalMs: number;
  /** When they were read: a candle that ends later may have got trades since. */
  readAt: number;
  /** The price that held when the first interval began; undefined before the first trade. */
  carried: number | undefined;
}

/** A part of the time axis. */
export interface Axis {
  from: number;
  to: number;
}

/**
 * The prices from `from` to `to`, each at the time since which it is known to hold. The close of a
 * candle holds at its end. The candle that still runs gives way to the trades that the page saw,
 * which have their own times. `trades` come oldest first and are the newest that there are. The
 * first point is at `from`, if there was a trade before, and the last one at `to`.
 */
export function priceLine(
  history: History,
  trades: TimedPrice[],
  { from, to }: Axis,
): TimedPrice[] {
  const { candles, intervalMs, readAt, carried } = history;
  const newest = trades.at(-1)?.time ?? -Infinity;
  const closes = candles.flatMap(({ start, close }) => {
    const end = start + intervalMs;
    if (end > readAt && newest >= start) return [];
    return [{ time: Math.min(end, to), price: close }];
  });
  const known = [...closes, ...trades].sort((one, other) => one.time - other.time);
  let before = carried;
  for (const { time, price } of known) if (time <= from) before = price;
  const inside = known.filter(({ time }) => time > from && time <= to);
  const line = before === undefined ? inside : [{ time: from, price: before }, ...inside];
  const last = line.at(-1);
  return last === undefined || last.time === to ? line : [...line, { time: to, price: last.price }];
}

/** The part of an interval that lies on the axis, and the shares that were traded in the interval. */
export interface VolumeBar {
  from: number;
  to: number;
  volume: number;
}

/** For a bar. The intervals of an axis of more than 16 minutes are shorter. */
const MOST_OF_AXIS = 1 / 16;

/**
 * The volume of each interval, as wide as the interval is long since `begin`, when the market was
 * made. On a very short axis the bar is the end of that.
 */
export function volumeBars(
  { candles, intervalMs }: History,
  { from, to }: Axis,
  begin: number,
): VolumeBar[] {
  const mostMs = (to - from) * MOST_OF_AXIS;
  return candles.flatMap(({ start, volume }) => {
    const end = Math.min(start + intervalMs, to);
    const bar = { from: Math.max(start, from, begin, end - mostMs), to: end, volume };
    return bar.from < bar.to ? [bar] : [];
  });
}

/** The price that holds at a time; undefined before the first one. */
export function priceAt(line: TimedPrice[], time: number): number | undefined {
  return line.findLast((point) => point.time <= time)?.price;
}

/** The trades of two lists, oldest first, each once. A time has all its trades in each list. */
export function joinedTrades(earlier: TimedPrice[], later: TimedPrice[]): TimedPrice[] {
  const begin = later[0]?.time ?? Infinity;
  return [...earlier.filter(({ time }) => time < begin), ...later];
}
