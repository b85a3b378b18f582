import test from "ava";
import { estimate } from "../../src/website/components/market/estimate.ts";
import { atShownPrice } from "../../src/website/components/market/shown_price.ts";
import type { Shown } from "../../src/website/components/market/shown_price.ts";
import type { PlaceOrder, Preview } from "../../src/website/api/types.ts";

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
    ...{ filledQuantity: 10, averagePrice: 60, worstPrice: 60, costCents: 600, feeCents: 17 },
    restingQuantity: 5,
  });
});

test("the fee is rounded once, over all levels; a market order does not wait", (t) => {
  // 7% of (10 x 0.6 x 0.4 + 20 x 0.62 x 0.38) = 0.49784 euros.
  t.deepEqual(of({ price: null, quantity: 50 }), {
    ...{ filledQuantity: 30, averagePrice: (600 + 1240) / 30, costCents: 1840, feeCents: 50 },
    ...{ worstPrice: 62, restingQuantity: 0 },
  });
});

test("a budget buys what it pays for, fee included", (t) => {
  // 12 cost 10 x 60 + 2 x 62 = 724, and 7% of (10 x 0.6 x 0.4 + 2 x 0.62 x 0.38) = 20.1 cents.
  t.is(of({ price: null, budgetCents: 745 }).filledQuantity, 12);
  t.is(of({ price: null, budgetCents: 744 }).filledQuantity, 11);
  t.is(of({ price: null, budgetCents: 61 }).filledQuantity, 0);
});

test("an order without a limit is sent with the worst price that was shown", (t) => {
  const market = { marketId, side: "yes", orderType: "buy", price: null, quantity: 15 } as const;
  const shown = { preview: undefined, book: undefined, ...rules };
  // Prices of a preview's fills are those of YES.
  const fills = [
    { price: 57, quantity: 1 },
    { price: 59, quantity: 14 },
  ];
  const preview = { fills } as Preview;
  const sent = (order: Partial<PlaceOrder>, more: Partial<Shown>) =>
    atShownPrice({ ...market, ...order }, { ...shown, ...more });
  t.deepEqual(sent({}, { preview, book }), { ...market, price: 59, timeInForce: "ioc" });
  t.is(sent({ orderType: "sell" }, { preview }).price, 57);
  t.is(sent({ side: "no" }, { preview }).price, 43);
  t.is(sent({ side: "no", orderType: "sell" }, { preview }).price, 41);
  t.is(sent({}, { preview: { fills: [] as object[] } as Preview, book }).price, 62);
  t.is(sent({ quantity: null, budgetCents: 300 }, { book }).price, 60);
  t.is(sent({ orderType: "sell" }, { book }).price, 50);
  t.deepEqual(sent({ price: 61 }, { preview, book }), { ...market, price: 61 });
  t.deepEqual(sent({}, {}), market, "nothing was shown");
  t.deepEqual(sent({}, { book: { yesBids: [], noBids: [] } }), market);
});

test("a sell takes the bids down to its price; NO mirrors YES", (t) => {
  t.deepEqual(of({ orderType: "sell", price: 51, quantity: 9 }), {
    ...{ filledQuantity: 5, averagePrice: 55, worstPrice: 55, costCents: -275, feeCents: 9 },
    restingQuantity: 4,
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
