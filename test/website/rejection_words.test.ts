import test from "ava";
import { rejectionWords } from "../../src/website/components/market/rejection_words.ts";
import type { Known } from "../../src/website/components/market/rejection_words.ts";
import type { PlaceOrder } from "../../src/website/api/types.ts";
import { formatDateTime } from "../../src/website/format.ts";

/** What a page says of a rejection, by what it knows. */

const limit = (limitCents: number | null, usedCents = 0) => ({
  ...{ limitCents, usedCents, pending: null },
});
const limits = { reviewedAt: null, day: limit(null), week: limit(null), month: limit(null) };
/** Offers to sell YES: 10 at 72, 20 at 75. Offers to buy YES: 5 at 55. */
const known: Known = {
  book: {
    yesBids: [{ price: 55, quantity: 5 }],
    noBids: [
      { price: 28, quantity: 10 },
      { price: 25, quantity: 20 },
    ],
  },
  feeRateBps: 700,
  account: { balance: 1000, limits },
  positions: [{ side: "yes", quantity: 7 }],
};
const nothing: Known = {
  ...{ book: undefined, feeRateBps: 700, account: undefined, positions: undefined },
};
const words = (code: string, order: Partial<PlaceOrder>, more: Partial<Known> = {}) =>
  rejectionWords(
    code,
    { marketId: "m", side: "yes", orderType: "buy", ...order },
    { ...known, ...more },
  );

test("INSUFFICIENT_LIQUIDITY: a budget below one share, another price, an empty book", (t) => {
  const of = (order: Partial<PlaceOrder>, more?: Partial<Known>) =>
    words("INSUFFICIENT_LIQUIDITY", order, more);
  // 7% of 0.72 x 0.28 = 1.4 cents, rounded up.
  const tooSmall = "€0.50 does not pay for one share: at 72¢ that costs €0.74 with the fee.";
  t.is(of({ budgetCents: 50 }), tooSmall);
  t.is(of({ budgetCents: 73 })?.slice(0, 5), "€0.73");
  t.is(of({ budgetCents: 74 }), undefined);
  t.is(
    of({ quantity: 1, price: 60, timeInForce: "ioc" }),
    "Nobody offers YES at 60¢ or better now: the best price is 72¢.",
  );
  t.is(
    of({ orderType: "sell", side: "no", quantity: 1, price: 40 }),
    "Nobody bids for NO at 40¢ or better now: the best price is 28¢.",
  );
  const book = { yesBids: [], noBids: [] };
  t.regex(of({ quantity: 1, price: null }, { book }) ?? "", /^Nobody offers YES now\./);
});

test("INSUFFICIENT_BALANCE: a sale says what is held, a buy what the cash is enough for", (t) => {
  const of = (order: Partial<PlaceOrder>, more?: Partial<Known>) =>
    words("INSUFFICIENT_BALANCE", order, more);
  const sale = { orderType: "sell", quantity: 8, price: null } as const;
  t.is(of(sale), "You hold 7 shares of YES, and can sell no more than that.");
  t.is(of({ ...sale, side: "no" }), "You hold no NO shares to sell.");
  // 10 x 72, 3 x 75 and 7% of (10 x 0.72 x 0.28 + 3 x 0.75 x 0.25) = 18.05: 964 in all, one more 1041.
  t.is(
    of({ quantity: 30, price: null }),
    "You have €10.00 in cash: that is enough for 13 shares at most.",
  );
  // All of it waits, at 40 cents each.
  t.is(
    of({ quantity: 26, price: 40 }),
    "You have €10.00 in cash: that is enough for 25 shares at most.",
  );
  const poor = { account: { balance: 5, limits } };
  t.is(
    of({ quantity: 2, price: 40 }, poor),
    "You have €0.05 in cash: that is not enough for one share.",
  );
  t.is(of({ budgetCents: 2000 }), "You have €10.00 in cash. Order less.");
});

test("LOSS_LIMIT: the limit of which least is left is named", (t) => {
  const of = (more: Partial<typeof limits>) =>
    words("LOSS_LIMIT", {}, { account: { balance: 1000, limits: { ...limits, ...more } } });
  t.is(
    of({ day: limit(5000, 1000), week: limit(9000, 8800) }),
    "This order could take you over your loss limit of €90.00 a week: €2.00 of it is left. Order less, or cancel an open order.",
  );
  t.is(of({}), undefined);
});

test("LOSS_LIMIT: where nothing is left, it says so, and when a day begins anew", (t) => {
  const now = new Date("2026-12-31T23:30:00Z");
  const of = (more: Partial<typeof limits>) => {
    const known = { ...nothing, account: { balance: 1000, limits: { ...limits, ...more } } };
    return rejectionWords("LOSS_LIMIT", { marketId: "m", side: "yes" }, known, now);
  };
  const advice = "If an open order takes a part of it, cancel that one.";
  const ofMonth = `Nothing of your loss limit of €1.00 a month is left, so this order cannot be placed. ${advice}`;
  t.is(of({ month: limit(100, 150) }), ofMonth);
  t.is(
    of({ day: limit(5000, 5000), week: limit(9000, 5000) }),
    `Nothing of your loss limit of €50.00 a day is left, so this order cannot be placed. ${advice} The limit begins anew on ${formatDateTime("2027-01-01T00:00:00Z")}.`,
  );
  // The day that begins helps nothing while nothing of the month is left.
  t.is(of({ day: limit(100, 100), month: limit(100, 100) }), ofMonth);
});

test("what the page does not know it does not say", (t) => {
  for (const code of ["INSUFFICIENT_LIQUIDITY", "LOSS_LIMIT", "OTHER"]) {
    for (const orderType of ["buy", "sell"] as const) {
      t.is(words(code, { orderType, quantity: 1, price: 50 }, nothing), undefined);
    }
  }
  // Whether cash or shares are missing, the order itself says.
  const of = (orderType: "buy" | "sell") =>
    words("INSUFFICIENT_BALANCE", { orderType, quantity: 1, price: 50 }, nothing);
  t.is(of("buy"), "You do not have enough cash for this order. Order less.");
  t.is(of("sell"), "You do not hold so many YES shares. Order less.");
});
