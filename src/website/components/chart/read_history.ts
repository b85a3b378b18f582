import { timeNow } from "../../api/server_time.ts";
import { publicApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { Candle, History } from "./price_line.ts";
import { DAY_MS, HOUR_MS, intervalFor, lengthsMs, startOf } from "./price_range.ts";
import type { Interval, Range } from "./price_range.ts";
import { readWholeHistory } from "./whole_history.ts";

/** A part of a market's history. */
export interface RangeHistory extends History {
  range: Range;
  /** When the range began as it was read; undefined for all that there is. */
  from: number | undefined;
}

interface Asked {
  marketId: string;
  range: Range;
  to: number;
  /** What was read before, whose beginning is read no more. */
  before: RangeHistory | undefined;
}

/** Reads a part of a market's history up to `to`: by at most four requests, and then by one. */
export async function readHistory(asked: Asked): Promise<Result<RangeHistory>> {
  const { marketId, range, to } = asked;
  const readAt = timeNow();
  const before = asked.before?.range === range ? asked.before : undefined;
  const start = startOf(range, to);
  if (start === undefined) {
    const read = (interval: Interval) => readCandles(marketId, interval, {});
    const all = await readWholeHistory(read, to, before?.candles[0]?.start);
    return all.ok ? { ok: true, data: { range, from: start, readAt, ...all.data } } : all;
  }
  const interval = intervalFor(to - start);
  if (before?.from !== undefined && start - before.from < HOUR_MS) {
    const candles = await readCandles(marketId, interval, { from: before.from });
    return candles.ok ? { ok: true, data: { ...before, candles: candles.data, readAt } } : candles;
  }
  const from = start;
  const [candles, carried] = await Promise.all([
    readCandles(marketId, interval, { from }),
    readPriceBefore(marketId, floor(from, lengthsMs[interval])),
  ]);
  if (!candles.ok) return candles;
  if (!carried.ok) return carried;
  const read = { candles: candles.data, intervalMs: lengthsMs[interval], carried: carried.data };
  return { ok: true, data: { range, from, readAt, ...read } };
}

/**
 * The last price before a whole minute: by the minutes of its hour, else by the hours of its day,
 * else by the days before.
 */
async function readPriceBefore(
  marketId: string,
  minute: number,
): Promise<Result<number | undefined>> {
  const [hour, day] = [floor(minute, HOUR_MS), floor(minute, DAY_MS)];
  const parts: [Interval, { from?: number; to: number }][] = [
    ["1m", { from: hour, to: minute }],
    ["1h", { from: day, to: hour }],
    ["1d", { to: day }],
  ];
  for (const [interval, part] of parts) {
    if (part.from === part.to) continue;
    const candles = await readCandles(marketId, interval, part);
    if (!candles.ok) return candles;
    const last = candles.data.at(-1);
    if (last !== undefined) return { ok: true, data: last.close };
  }
  return { ok: true, data: undefined };
}

async function readCandles(
  id: string,
  interval: Interval,
  { from, to }: { from?: number; to?: number },
): Promise<Result<Candle[]>> {
  const query = {
    interval,
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  };
  const params = { path: { id }, query };
  const result = await resultOf(publicApi.GET("/api/v1/markets/{id}/candles", { params }));
  if (!result.ok) return result;
  const data = result.data.data.map(({ start, close, volume }) => ({
    ...{ start: Date.parse(start), close, volume },
  }));
  return { ok: true, data };
}

function floor(time: number, lengthMs: number): number {
  return Math.floor(time / lengthMs) * lengthMs;
}
