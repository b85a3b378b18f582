import type { Result } from "../../api/result.ts";
import type { Candle, History } from "./price_line.ts";
import { intervalFor, lengthsMs } from "./price_range.ts";
import type { Interval } from "./price_range.ts";

/**
 * All candles of a market up to `to`, as short as one answer can have them: by days, if these are
 * few by hours, and if these are few by minutes. `start`: when the first one began, if that is known.
 */
export async function readWholeHistory(
  read: (interval: Interval) => Promise<Result<Candle[]>>,
  to: number,
  start?: number,
): Promise<Result<Pick<History, "candles" | "intervalMs" | "carried">>> {
  const intervalSince = (time?: number): Interval =>
    time === undefined ? "1d" : intervalFor(to - time);
  let interval = intervalSince(start);
  for (;;) {
    const candles = await read(interval);
    if (!candles.ok) return candles;
    const shortest = intervalSince(start ?? candles.data[0]?.start);
    if (lengthsMs[shortest] >= lengthsMs[interval]) {
      const data = { candles: candles.data, intervalMs: lengthsMs[interval], carried: undefined };
      return { ok: true, data };
    }
    interval = shortest;
  }
}
