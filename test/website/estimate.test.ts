import test from "ava";
import { estimate } from "../../src/website/components/market/estimate.ts";
import type { PlaceOrder } from "../../src/website/api/types.ts";

/** What the page says of an order in a live market. */

const marketId = "0193d0a0-0000-7000-8000-000000000000";
const rules = { feeRateBps: 700 };
/** Offers to sell YES: 10 at 60, 20 at 62. Offers to buy YES: 5 at 55, 8 at 50. */
const book = {
  yesBids: [
    { price: 55, quantity: 5 },
    { price: 50, quantity: 8 },
  ],
  noBids: [
    { price: 40, quantity: 10 },
    { price: 38, quantity: 20 },
  ],
};
const of = (order: Partial<PlaceOrder>) =>
  estimate({ marketId, side: "yes", orderType: "buy", ...order }, book, rules);

test("a buy takes the offers up to its price, and waits with the rest", (t) => {
  // 7% of 10 x 0.6 x 0.4 = 16.8 cents, rounded up.
  t.deepEqual(of({ price: 61, quantity: 15 }), {
    ...{ filledQuantity: 10, averagePrice: 60, costCents: 600, feeCents: 17, restingQuantity: 5 },
  });
});

test("the fee is rounded once, over all levels; a market order does not wait", (t) => {
  // 7% of (10 x 0.6 x 0.4 + 20 x 0.62 x 0.38) = 0.49784 euros.
  t.deepEqual(of({ price: null, quantity: 50 }), {
    ...{ filledQuantity: 30, averagePrice: (600 + 1240) / 30, costCents: 1840, feeCents: 50 },
    restingQuantity: 0,
  });
});

test("a budget buys what it pays for, fee included", (t) => {
  // 12 cost 10 x 60 + 2 x 62 = 724, and 7% of (10 x 0.6 x 0.4 + 2 x 0.62 x 0.38) = 20.1 cents.
  t.is(of({ price: null, budgetCents: 745 }).filledQuantity, 12);
  t.is(of({ price: null, budgetCents: 744 }).filledQuantity, 11);
  t.is(of({ price: null, budgetCents: 61 }).filledQuantity, 0);
});

test("a sell takes the bids down to its price; NO mirrors YES", (t) => {
  t.deepEqual(of({ orderType: "sell", price: 51, quantity: 9 }), {
    ...{ filledQuantity: 5, averagePrice: 55, costCents: -275, feeCents: 9, restingQuantity: 4 },
  });
  // Who buys NO at 45 takes the bid for YES at 55.
  t.is(of({ side: "no", price: 45, quantity: 9 }).filledQuantity, 5);
  t.is(of({ side: "no", price: 44, quantity: 9 }).filledQuantity, 0);
  // Who sells NO at 40 takes the bid for NO at 40.
  t.is(of({ side: "no", orderType: "sell", price: 40, quantity: 99 }).filledQuantity, 10);
});

test("an order that may not wait does not", (t) => {
  t.is(of({ price: 50, quantity: 9, timeInForce: "ioc" }).restingQuantity, 0);
  t.is(of({ price: 50, quantity: 9 }).restingQuantity, 9);
});
