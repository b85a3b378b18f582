import test from "ava";
import fc from "fast-check";
import { higherThanLonger } from "../../src/website/components/account/limit_words.ts";
import { chanceOf, WIDEST_SPREAD } from "../../src/website/components/market/chance.ts";

const of = (bestBid: number | null, bestAsk: number | null, lastTradePrice: number | null) =>
  chanceOf({ bestBid, bestAsk, lastTradePrice });

test("a narrow spread: the chance is the middle of bid and ask, whatever traded last", (t) => {
  t.deepEqual(of(78, 80, 82), { chance: 79, kind: "mid" });
  t.deepEqual(of(78, 79, null), { chance: 78.5, kind: "mid" });
  t.is(of(40, 40 + WIDEST_SPREAD, 90).kind, "mid");
});

test("a wide spread, or one side only: the last price, held between bid and ask", (t) => {
  t.deepEqual(of(40, 41 + WIDEST_SPREAD, 90), { chance: 51, kind: "held" });
  t.deepEqual(of(40, 60, 50), { chance: 50, kind: "last" });
  t.deepEqual(of(70, null, 60), { chance: 70, kind: "held" });
  t.deepEqual(of(null, 30, 60), { chance: 30, kind: "held" });
  t.deepEqual(of(null, null, 60), { chance: 60, kind: "last" });
});

test("without a trade and without a narrow spread there is no chance", (t) => {
  for (const [bid, ask] of [
    [20, 80],
    [20, null],
    [null, null],
  ] as const) {
    t.deepEqual(of(bid, ask, null), { chance: null, kind: "none" });
  }
});

test("a chance never lies outside of bid and ask", (t) => {
  const price = fc.integer({ min: 1, max: 99 });
  const maybe = fc.option(price);
  fc.assert(
    fc.property(maybe, maybe, maybe, (one, other, last) => {
      const isCrossed = one !== null && other !== null && one >= other;
      const [bid, ask] = isCrossed ? [null, other] : [one, other];
      const { chance } = of(bid, ask, last);
      if (chance === null) return;
      t.true(chance >= (bid ?? 0) && chance <= (ask ?? 100));
    }),
  );
});

test("a limit above that of a longer time is warned of", (t) => {
  const limits = (day: number | null, week: number | null, month: number | null) =>
    higherThanLonger({ day, week, month });
  t.regex(limits(200, 100, null) ?? "", /a day is above that of 7 days/);
  t.regex(limits(200, null, 100) ?? "", /a day is above that of 30 days/);
  t.regex(limits(null, 200, 100) ?? "", /7 days is above that of 30 days/);
  for (const good of [
    limits(1, 2, 3),
    limits(1, 1, 1),
    limits(null, null, null),
    limits(5, null, 9),
  ])
    t.is(good, undefined);
  t.is(higherThanLonger({ day: "wrong", week: 1, month: null }), undefined);
});
