import { execFileSync } from "node:child_process";
import test from "ava";
import fc from "fast-check";
import { closesOf } from "../../src/website/components/chart/closes_line.ts";
import { apart, stepPath } from "../../src/website/components/chart/line_path.ts";
import {
  joinedTrades,
  priceAt,
  priceLine,
  volumeBars,
} from "../../src/website/components/chart/price_line.ts";
import type { History } from "../../src/website/components/chart/price_line.ts";
import {
  describeChart,
  firstRange,
  intervalFor,
  lengthsMs,
  startOf,
} from "../../src/website/components/chart/price_range.ts";
import { ticksOf, xOf } from "../../src/website/components/chart/time_axis.ts";
import { sparklinePath } from "../../src/website/components/home/sparkline_path.ts";

/** Where charts draw what: by the times and the prices of trades, and nothing else. */

const at = (time: string) => Date.parse(`2030-01-01T${time}Z`);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const hours = (closes: [string, number][], readAt: string, carried?: number): History => ({
  candles: closes.map(([start, close]) => ({ start: at(start), close, volume: close * 10 })),
  ...{ intervalMs: HOUR, readAt: at(readAt), carried },
});
const points = (list: [string, number][]) =>
  list.map(([time, price]) => ({ time: at(time), price }));

test("a point is as far from the left as its time is from the beginning", (t) => {
  const axis = { from: at("00:00"), to: at("10:00") };
  t.is(xOf(at("00:00"), axis, 500), 0);
  t.is(xOf(at("02:30"), axis, 500), 125);
  t.is(xOf(at("10:00"), axis, 500), 500);
  fc.assert(
    fc.property(fc.nat(10 * HOUR), fc.nat(10 * HOUR), (one, other) => {
      const distance = xOf(axis.from + one, axis, 500) - xOf(axis.from + other, axis, 500);
      return Math.abs(distance - ((one - other) / (10 * HOUR)) * 500) < 1e-6;
    }),
  );
});

test("hours without a trade carry the last price, from before the beginning on", (t) => {
  const closes = hours([["09:00", 40], ["12:00", 60]], "14:30", 33); // prettier-ignore
  t.deepEqual(
    priceLine(closes, [], { from: at("08:20"), to: at("14:30") }),
    points([["08:20", 33], ["10:00", 40], ["13:00", 60], ["14:30", 60]]), // prettier-ignore
  );
});

test("before the first trade nothing is drawn", (t) => {
  const axis = { from: at("08:00"), to: at("14:00") };
  t.deepEqual(priceLine(hours([], "14:00"), [], axis), []);
  t.deepEqual(priceLine(hours([["09:00", 40]], "14:00"), [], axis), points([["10:00", 40], ["14:00", 40]])); // prettier-ignore
  t.deepEqual(priceLine(hours([], "14:00"), points([["11:07", 52]]), axis), points([["11:07", 52], ["14:00", 52]])); // prettier-ignore
});

test("trades move the hour that runs, each at its own time", (t) => {
  const closes = hours([["09:00", 40], ["10:00", 45]], "10:20"); // prettier-ignore
  const axis = { from: at("09:00"), to: at("10:30") };
  const trades = points([["10:15", 45], ["10:21", 50], ["10:29", 52]]); // prettier-ignore
  t.deepEqual(
    priceLine(closes, trades, axis),
    points([["10:00", 40], ["10:15", 45], ["10:21", 50], ["10:29", 52], ["10:30", 52]]), // prettier-ignore
  );
  // A page without a stream knows no times within the hour: its price holds now.
  t.deepEqual(priceLine(closes, [], axis).at(-1), { time: at("10:30"), price: 45 });
  // The last trade it saw is older than the hour.
  const old = points([["09:50", 40]]);
  t.is(priceLine(closes, old, axis).at(-1)?.price, 45);
});

test("the line has the price of the last trade at the end of each interval", (t) => {
  const trade = fc.record({ ms: fc.nat(12 * HOUR), price: fc.integer({ min: 1, max: 99 }) });
  const property = fc.property(
    fc.array(trade, { maxLength: 40 }),
    fc.nat(12 * HOUR),
    fc.nat(20),
    (made, fromMs, seenCount) => {
      const begin = at("00:00");
      const to = begin + 12 * HOUR;
      const trades = made
        .filter(({ ms }) => ms < 12 * HOUR)
        .map(({ ms, price }) => ({ time: begin + ms, price }))
        .sort((one, other) => one.time - other.time);
      const first = Math.floor((begin + fromMs) / HOUR) * HOUR;
      const closes = new Map(trades.map((x) => [Math.floor(x.time / HOUR) * HOUR, x.price]));
      const history: History = {
        candles: [...closes]
          .filter(([start]) => start >= first)
          .map(([start, close]) => ({ start, close, volume: 1 })),
        ...{ intervalMs: HOUR, readAt: to },
        carried: trades.findLast(({ time }) => time < first)?.price,
      };
      const seen = trades.slice(trades.length - Math.min(seenCount, trades.length));
      const line = priceLine(history, seen, { from: begin + fromMs, to });
      for (let end = first + HOUR; end <= to; end += HOUR) {
        const truth = trades.findLast(({ time }) => time <= end)?.price;
        if (priceAt(line, end) !== truth) return false;
      }
      return line.every(({ time }, index) => time >= (line[index - 1]?.time ?? begin + fromMs));
    },
  );
  t.notThrows(() => {
    fc.assert(property);
  });
});

test("bars of volume are as wide as their interval, and cut at both ends", (t) => {
  const closes = hours([["02:00", 3], ["09:00", 4], ["20:00", 5]], "20:20"); // prettier-ignore
  const bars = [
    { from: at("02:30"), to: at("03:00"), volume: 30 },
    { from: at("09:00"), to: at("10:00"), volume: 40 },
    { from: at("20:00"), to: at("20:20"), volume: 50 },
  ];
  const axis = { from: at("02:30"), to: at("20:20") };
  t.deepEqual(volumeBars(closes, axis, at("00:00")), bars);
  // The market was made within the first hour.
  t.deepEqual(volumeBars(closes, axis, at("02:40")), [
    { ...bars[0]!, from: at("02:40") },
    ...bars.slice(1),
  ]);
  t.is(volumeBars(closes, { from: at("03:00"), to: at("20:00") }, at("00:00")).length, 1);
});

test("the bars of a young market are no wider than a sixteenth of the axis", (t) => {
  const minute = { close: 40, volume: 7 };
  const history = {
    candles: [{ ...minute, start: at("10:00") }],
    ...{ intervalMs: MINUTE, readAt: at("10:00:48"), carried: undefined },
  };
  // Made at 10:00:16: 32 seconds, of which the bar has the last two.
  const axis = { from: at("10:00:16"), to: at("10:00:48") };
  t.deepEqual(volumeBars(history, axis, axis.from), [
    { from: at("10:00:46"), to: at("10:00:48"), volume: 7 },
  ]);
  const later = { from: axis.from, to: at("10:08:16") };
  t.deepEqual(volumeBars(history, later, axis.from), [
    { from: at("10:00:30"), to: at("10:01:00"), volume: 7 },
  ]);
});

test("lists of the newest trades are joined where they overlap", (t) => {
  const [a, b, c, d] = points([["01:00", 1], ["02:00", 2], ["03:00", 3], ["04:00", 4]]) as any; // prettier-ignore
  t.deepEqual(joinedTrades([a, b, c], [b, c, d]), [a, b, c, d]);
  t.deepEqual(joinedTrades([a], []), [a]);
  t.deepEqual(joinedTrades([], [a, b]), [a, b]);
});

test("a range begins exactly its length before its end, also where a clock changes", (t) => {
  // Clocks in Berlin are put forward at 01:00 UTC on 31 March 2030.
  for (const to of [at("12:34"), Date.parse("2030-03-31T12:34:56.789Z")]) {
    t.deepEqual(
      (["1h", "1d", "1w", "1m", "all"] as const).map((range) => startOf(range, to)),
      [to - HOUR, to - DAY, to - 7 * DAY, to - 30 * DAY, undefined],
    );
  }
});

test("a market younger than a week is first shown as a whole", (t) => {
  const to = at("12:34");
  t.is(firstRange(to - 7 * DAY, to), "1w");
  t.is(firstRange(to - 7 * DAY + 1, to), "all");
});

test("the candles of a range fit into one answer", (t) => {
  t.deepEqual([HOUR, DAY, 7 * DAY, 30 * DAY, 400 * DAY].map(intervalFor), ["1m", "1h", "1h", "1h", "1d"]); // prettier-ignore
  for (let spanMs = HOUR; spanMs < 900 * DAY; spanMs *= 1.07) {
    t.true(spanMs / lengthsMs[intervalFor(spanMs)] + 1 <= 1000);
  }
});

type Part = [from: string, to: string, most: number];

/** The marks of axes and their zones for a reader in Berlin: a process has one zone. */
function inBerlin(parts: Part[]): { marks: { time: number; label: string }[]; zone: string }[] {
  const module = new URL("../../src/website/components/chart/time_axis.ts", import.meta.url).href;
  const program = `
    import { ticksOf, zoneOf } from ${JSON.stringify(module)};
    const answers = ${JSON.stringify(parts)}.map(([from, to, most]) => {
      const axis = { from: Date.parse(from), to: Date.parse(to) };
      return { marks: ticksOf(axis, most), zone: zoneOf(axis) };
    });
    console.log(JSON.stringify(answers));`;
  const options = { env: { ...process.env, TZ: "Europe/Berlin" }, encoding: "utf8" } as const;
  const args = ["--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, args, options));
}

test("marks are at whole hours and days of the reader's clock, also where it changes", (t) => {
  const expected: [Part, string[], string][] = [
    [["2030-01-01T08:20Z", "2030-01-01T09:20Z", 5], ["09:30", "09:45", "10:00", "10:15"], "GMT+1"],
    [
      ["2030-03-30T20:00Z", "2030-03-31T20:00Z", 6],
      ["31 Mar", "06:00", "12:00", "18:00"],
      "GMT+1 and GMT+2",
    ],
    [
      ["2030-10-26T12:00Z", "2030-10-29T12:00Z", 6],
      ["27 Oct", "28 Oct", "29 Oct"],
      "GMT+2 and GMT+1",
    ],
    [["2029-11-15T00:00Z", "2030-03-15T00:00Z", 6], ["1 Dec", "2030", "1 Feb", "1 Mar"], "GMT+1"],
    [["2030-03-30T12:00Z", "2030-04-01T12:00Z", 3], ["31 Mar", "1 Apr"], "GMT+1 and GMT+2"],
  ];
  const answers = inBerlin(expected.map(([part]) => part));
  for (const [index, [, labels, zone]] of expected.entries()) {
    t.deepEqual(answers[index]!.marks.map(({ label }) => label), labels); // prettier-ignore
    // Which of its two names a zone has is up to the system.
    t.is(answers[index]!.zone.replaceAll("CEST", "GMT+2").replaceAll("CET", "GMT+1"), zone);
  }
  const [before, after] = answers[4]!.marks;
  t.is(after!.time - before!.time, 23 * HOUR, "the day on which an hour is left out");
});

test("an axis has a few marks, however long it is", (t) => {
  for (let spanMs = HOUR; spanMs < 3000 * DAY; spanMs *= 1.3) {
    const ticks = ticksOf({ from: at("10:10"), to: at("10:10") + spanMs }, 6);
    t.true(ticks.length >= 1 && ticks.length <= 7, `${spanMs}: ${ticks.length}`);
  }
});

test("a chart is described in words", (t) => {
  t.is(describeChart("1h", []), "No trades yet");
  t.is(
    describeChart("all", [40, 70, 55]),
    "Price of YES since the first trade: from 40% to 55%, between 40% and 70%",
  );
});

test("prices at the ends of equal steps are at their times, the last one is that of now", (t) => {
  const steps = { from: at("00:00"), stepMs: 4 * HOUR };
  t.deepEqual(closesOf([null, 40, 60], { ...steps, now: at("09:00") }), {
    ...{ from: at("04:00"), to: at("09:00") },
    points: points([["08:00", 40], ["09:00", 60]]), // prettier-ignore
  });
  t.deepEqual(closesOf([null, null], { ...steps, now: at("05:00") }).points, []);
});

test("a small line goes from left to right by time, and is level between its points", (t) => {
  const axis = { from: 0, to: 96 };
  const path = (...prices: [number, number][]) =>
    sparklinePath({ ...axis, points: prices.map(([time, price]) => ({ time, price })) });
  t.is(path([0, 10], [24, 50], [96, 50]), "M0.0 26.0H24.0V2.0H96.0V2.0");
  t.is(path([48, 10], [96, 50]), "M48.0 26.0H96.0V2.0", "before the first trade it is empty");
  t.is(path(), "");
  t.is(path([96, 5]), "");
});

test("a price holds until the next one", (t) => {
  const same = (value: number) => value;
  t.is(
    stepPath([{ time: 1, price: 2 }, { time: 3, price: 4 }], same, same), // prettier-ignore
    "M1.0 2.0H3.0V4.0",
  );
});

test("labels at the ends of lines keep their distance and their order", (t) => {
  const room = { least: 10, most: 200, distance: 15 };
  t.deepEqual(apart([100, 50], room), [100, 50]);
  t.deepEqual(apart([50, 52], room), [50, 65]);
  t.deepEqual(apart([200, 199], room), [200, 185]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 10, max: 200 }), { maxLength: 6 }), (places) => {
      const moved = apart(places, room);
      const sorted = [...moved].sort((one, other) => one - other);
      return (
        sorted.every((y, index) => index === 0 || y - sorted[index - 1]! >= 15) &&
        moved.every((y) => y >= 10 && y <= 200)
      );
    }),
  );
});
