import test from "ava";
import { bucketsOf } from "../../src/website/components/market/chart_buckets.ts";
import { axisOf } from "../../src/website/components/market/price_range.ts";

const at = (time: string) => Date.parse(`2030-01-01T${time}Z`);
const HOUR = 3_600_000;

const drawn = (
  prices: [string, number][],
  { from, now, before }: { from?: string; now: string; before?: number },
) =>
  bucketsOf(
    prices.map(([time, price]) => ({ time: at(time), price })),
    {
      ...{ intervalMs: HOUR, now: at(now), before },
      from: from === undefined ? undefined : at(from),
    },
  );

test("each hour has a point, and one without trades keeps the last price", (t) => {
  const buckets = drawn(
    [
      ["09:00", 40],
      ["12:00", 60],
    ],
    { from: "08:00", now: "14:30" },
  );
  const begin = at("08:00");
  t.deepEqual(
    buckets.map(({ time }) => (time - begin) / HOUR),
    [0, 1, 2, 3, 4, 5, 6],
    "as far from each other as in time",
  );
  t.deepEqual(
    buckets.map(({ price }) => price),
    [undefined, 40, 40, 40, 60, 60, 60],
  );
});

test("live trades move the running hour, and are no points of their own", (t) => {
  const candles: [string, number][] = [
    ["09:00", 40],
    ["10:00", 45],
  ];
  const before = drawn(candles, { from: "09:00", now: "10:20" });
  const trades: [string, number][] = [
    ["10:21", 50],
    ["10:22", 51],
    ["10:23", 52],
  ];
  const after = drawn([...candles, ...trades], { from: "09:00", now: "10:20" });
  t.is(after.length, before.length);
  t.is(after.at(-1)?.price, 52);
  t.is(after.at(-2)?.price, 40);
});

test("a trade after a quiet time begins its own hour", (t) => {
  const prices = drawn(
    [
      ["09:00", 40],
      ["12:59", 70],
    ],
    { now: "09:30" },
  ).map(({ price }) => price);
  t.deepEqual(prices, [40, 40, 40, 70]);
});

test("what is before the axis gives its first price", (t) => {
  const prices = (before?: number) =>
    drawn([["07:00", 33]], {
      from: "09:00",
      now: "11:00",
      ...(before !== undefined && { before }),
    });
  t.deepEqual(
    prices().map(({ price }) => price),
    [33, 33, 33],
  );
  t.deepEqual(
    drawn([], { from: "09:00", now: "10:00", before: 61 }).map(({ price }) => price),
    [61, 61],
  );
  t.deepEqual(
    drawn([], { from: "09:00", now: "10:00" }).map(({ price }) => price),
    [undefined, undefined],
  );
});

test("a history of many years does not make more points than a screen has", (t) => {
  const buckets = bucketsOf([{ time: 0, price: 10 }], {
    ...{ intervalMs: HOUR, from: undefined, now: at("12:00"), before: undefined },
  });
  t.is(buckets.length, 2000);
  t.is(buckets[0]?.price, 10);
});

test("a range begins with a whole bucket", (t) => {
  t.deepEqual(axisOf("1d", at("12:34")), { intervalMs: HOUR, from: at("12:00") - 24 * HOUR });
  t.deepEqual(axisOf("1h", at("12:34")), { intervalMs: 60_000, from: at("11:34") });
  t.deepEqual(axisOf("all", at("12:34")), { intervalMs: 24 * HOUR, from: undefined });
});
