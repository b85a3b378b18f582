import test from "ava";
import { lengthsMs } from "../../src/website/components/chart/price_range.ts";
import type { Interval } from "../../src/website/components/chart/price_range.ts";
import { readWholeHistory } from "../../src/website/components/chart/whole_history.ts";

/** In which candles a chart of the whole history is read. */

const to = Date.parse("2030-01-02T18:00:00Z");

/** Reads a market with trades at these times; the intervals that it asked for, and its candles. */
async function readTrades(times: string[], start?: string) {
  const asked: Interval[] = [];
  const read = async (interval: Interval) => {
    asked.push(interval);
    const length = lengthsMs[interval];
    const starts = times.map((time) => Math.floor(Date.parse(time) / length) * length);
    const data = [...new Set(starts)].map((one) => ({ start: one, close: 40, volume: 400 }));
    return { ok: true as const, data };
  };
  const found = await readWholeHistory(read, to, start === undefined ? start : Date.parse(start));
  return { asked, ...(found.ok && found.data) };
}

test("a market whose first trade was this evening is read by minutes", async (t) => {
  const { asked, candles } = await readTrades(["2030-01-02T17:31Z", "2030-01-02T17:58Z"]);
  t.deepEqual(asked, ["1d", "1h", "1m"]);
  const starts = candles?.map(({ start }) => new Date(start).toISOString().slice(11, 16));
  t.deepEqual(starts, ["17:31", "17:58"]);
});

test("one whose first trade was this morning too, and at once when that is known", async (t) => {
  const trades = ["2030-01-02T02:30Z", "2030-01-02T17:58Z"];
  t.deepEqual((await readTrades(trades)).asked, ["1d", "1h", "1m"]);
  t.deepEqual((await readTrades(trades, trades[0])).asked, ["1m"]);
});

test("one of some days is read by hours, an old one by days, one without trades once", async (t) => {
  t.deepEqual((await readTrades(["2029-12-30T17:31Z", "2030-01-02T17:58Z"])).asked, ["1d", "1h"]);
  t.deepEqual((await readTrades(["2029-10-01T17:31Z", "2030-01-02T17:58Z"])).asked, ["1d"]);
  t.deepEqual((await readTrades([])).asked, ["1d"]);
});
