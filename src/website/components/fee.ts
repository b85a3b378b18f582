/**
 * The fee, for what no preview says: explaining it to visitors, and the estimates of a page. What an
 * order costs, its preview says. test/website/own_figures.test.ts compares both.
 */

/** Basis points. */
export const USUAL_RATE_BPS = 700;

/** By what shares at one price count for the fee. */
export function feeWeight(quantity: number, price: number): number {
  return quantity * price * (100 - price);
}

/** Cents for an order that took shares of this weight in all, rounded up once. */
export function feeCents(weight: number, rateBps: number): number {
  return Math.ceil((rateBps * weight) / 1_000_000);
}
