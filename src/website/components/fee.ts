/** Basis points, for explaining the fee. What an order really costs, its preview says. */
export const USUAL_RATE_BPS = 700;

/** By what shares at one price count for the fee. */
export function feeWeight(quantity: number, price: number): number {
  return quantity * price * (100 - price);
}

/** Cents for an order that took shares of this weight in all, rounded up once. */
export function feeCents(weight: number, rateBps: number): number {
  return Math.ceil((rateBps * weight) / 1_000_000);
}
