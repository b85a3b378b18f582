import type { MarketRules, PlaceOrder, Snapshot } from "../../api/types.ts";
import { feeCents, feeWeight } from "../fee.ts";

/**
 * What an order would trade if the book stayed as it is. The preview says it where it can; this is
 * for live markets, where the preview only says `scheduled`, for orders that are sent before their
 * preview has come, and for what the preview does not say: how many shares the cash is enough for.
 * test/website/own_figures.test.ts compares it with previews.
 */
export interface Estimate {
  filledQuantity: number;
  averagePrice: number | null;
  /** The price of the last fill; null without fills. */
  worstPrice: number | null;
  /** Without the fee; negative for proceeds. */
  costCents: number;
  feeCents: number;
  restingQuantity: number;
}

/** Goes through the book as it is shown, and counts the fee as the exchange does. */
export function estimate(
  order: PlaceOrder,
  book: Snapshot["orderBook"],
  { feeRateBps }: Pick<MarketRules, "feeRateBps">,
): Estimate {
  const isBuy = order.orderType !== "sell";
  const isYes = order.side === "yes";
  const limit = order.price ?? (isBuy ? 99 : 1);
  const most = order.quantity ?? 10_000;
  const budget = order.budgetCents ?? Infinity;
  let [quantity, cents, weight] = [0, 0, 0];
  let worstPrice: number | null = null;
  for (const level of isBuy === isYes ? book.noBids : book.yesBids) {
    // A buy is met by bids for the other side, a sell by those for its own.
    const price = isBuy ? 100 - level.price : level.price;
    if (isBuy ? price > limit : price < limit) break;
    const feeWith = (shares: number): number =>
      feeCents(weight + feeWeight(shares, price), feeRateBps);
    let shares = Math.min(level.quantity, most - quantity);
    if (budget !== Infinity) {
      shares = Math.min(shares, Math.max(0, Math.floor((budget - cents) / price)));
      while (shares > 0 && cents + shares * price + feeWith(shares) > budget) shares--;
    }
    if (shares > 0) worstPrice = price;
    quantity += shares;
    cents += shares * price;
    weight += feeWeight(shares, price);
    if (shares < level.quantity) break;
  }
  const isResting =
    typeof order.price === "number" && order.timeInForce !== "ioc" && budget === Infinity;
  return {
    filledQuantity: quantity,
    averagePrice: quantity === 0 ? null : cents / quantity,
    worstPrice,
    costCents: isBuy ? cents : 0 - cents,
    feeCents: feeCents(weight, feeRateBps),
    restingQuantity: isResting ? most - quantity : 0,
  };
}
