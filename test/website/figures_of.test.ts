import test from "ava";
import type { Estimate } from "../../src/website/components/market/estimate.ts";
import {
  mainFigures,
  moreFigures,
  restWords,
  winWords,
} from "../../src/website/components/market/figures_of.ts";
import type { PlannedOrder } from "../../src/website/components/market/figures_of.ts";

/** Buys 28 YES at 68 cents: 16 of them are there, for 16 x 68 cents and 7% of 16 x 0.68 x 0.32. */
const order = { marketId: "1", side: "yes", orderType: "buy", price: 68, quantity: 28 } as const;
const done: Estimate = {
  ...{ filledQuantity: 16, averagePrice: 68, worstPrice: 68 },
  ...{ costCents: 1088, feeCents: 25, restingQuantity: 12 },
};
const none = { filledQuantity: 0, averagePrice: null, worstPrice: null, costCents: 0, feeCents: 0 };

test("what is won counts the shares that trade at once, less cost and fee", (t) => {
  t.is(winWords({ order, done }), "If YES: you win +€4.87 (pays\u00a0€16.00)");
  t.is(winWords({ order: { ...order, side: "no" }, done })?.slice(0, 6), "If NO:");
  t.is(winWords({ order: { ...order, orderType: "sell" }, done }), undefined);
  t.is(winWords({ order, done: { ...none, restingQuantity: 28 } }), undefined);
  t.deepEqual(mainFigures({ order, done }), [
    ["You pay, with the fee", "€11.13"],
    ["Average price", "68¢"],
  ]);
  const budget = { marketId: "1", side: "yes", price: null, budgetCents: 2000 } as const;
  const worst = { ...done, worstPrice: 70, restingQuantity: 0 };
  t.deepEqual(mainFigures({ order: budget, done: worst })[2], ["Highest price", "70¢"]);
  const sold = { ...done, costCents: -1088, restingQuantity: 0 };
  t.deepEqual(mainFigures({ order: { ...order, orderType: "sell" }, done: sold })[0], [
    ...["You get, after the fee", "€10.63"],
  ]);
});

test("what does not trade at once is said before", (t) => {
  const words = (change: object, filled: Partial<Estimate> = {}, more = {}) =>
    restWords({ order: { ...order, ...change }, done: { ...done, ...filled }, ...more });
  const both = "12 wait in the book until you cancel";
  t.is(words({}), `Only 16 of 28 trade now. ${both}.`);
  t.is(words({}, {}, { isLater: true }), `Only 16 of 28 would trade. ${both}.`);
  t.is(
    words({ quantity: 1 }, { ...none, restingQuantity: 1 }),
    "Nothing trades now. 1 waits in the book until you cancel.",
  );
  t.regex(words({ expiresAt: "2030-01-02T03:04:00Z" }) ?? "", /until you cancel, or until .*2030/);
  const ioc = { timeInForce: "ioc" };
  t.is(words(ioc, { restingQuantity: 0 }), "Only 16 of 28 trade now. The rest is cancelled.");
  t.is(words(ioc, { ...none, restingQuantity: 0 }), "It finds no match, and is cancelled.");
  t.is(words({ quantity: 16 }, { restingQuantity: 0 }), undefined);
  const budget = { price: null, quantity: undefined, budgetCents: 2000 };
  t.is(words(budget, { restingQuantity: 0 }), undefined);
});

test("the other figures say the rest", (t) => {
  const names = (planned: PlannedOrder) => moreFigures(planned).map(([name]) => name);
  t.deepEqual(moreFigures({ order, done, balanceAfter: 98_887 }), [
    ["Trades now", "16 shares"],
    ["Fee", "€0.25"],
    ["If it is wrong, you lose", "€11.13"],
    ["Waits in the book", "12 shares"],
    ["If that trades, it costs", "€8.16"],
    ["and pays, if YES is right", "€12.00"],
    ["Cash afterwards", "€988.87"],
  ]);
  const waits = { ...none, restingQuantity: 28 };
  t.deepEqual(names({ order, done: waits, balanceAfter: 1 }), ["Cash afterwards"]);
  t.deepEqual(mainFigures({ order, done: waits }), [
    ["If that trades, it costs", "€19.04"],
    ["and pays, if YES is right", "€28.00"],
  ]);
});
