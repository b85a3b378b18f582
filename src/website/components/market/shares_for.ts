import { feeCents, feeWeight } from "../fee.ts";

/** Of one order. */
const MOST = 10_000;

/**
 * The most shares that an amount pays for if all of them trade at this price, with the fee. Shares
 * that trade at a better price, or wait in the book, cost less.
 */
export function sharesFor(cents: number, price: number, feeRateBps: number): number {
  let shares = Math.min(MOST, Math.floor(cents / price));
  while (shares > 0 && shares * price + feeCents(feeWeight(shares, price), feeRateBps) > cents) {
    shares--;
  }
  return shares;
}
