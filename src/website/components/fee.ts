/**
 * The fee at the usual rate, for explaining it. What an order really costs, its preview says.
 */
const USUAL_RATE_BPS = 700;

/** Cents for taking shares at one price, rounded up. */
export function feeCents(quantity: number, price: number): number {
  return Math.ceil((USUAL_RATE_BPS * quantity * price * (100 - price)) / 1_000_000);
}
