import type { PlacedOrder } from "../../api/types.ts";
import type { Outcome } from "../order_words.ts";

interface Answer extends Pick<PlacedOrder, "fills" | "feeCents"> {
  order: Pick<
    PlacedOrder["order"],
    "status" | "side" | "quantity" | "filledQuantity" | "cancelReason"
  >;
}

/** What became of an order, by the answer to the command that placed it. */
export function answeredOutcome({ order, fills, feeCents }: Answer): Outcome {
  return { ...order, averagePrice: averagePriceOf(order, fills), feeCents };
}

/** Null where the answer has not all fills: those after the placement are not in it. */
function averagePriceOf(
  { side, filledQuantity }: Answer["order"],
  fills: PlacedOrder["fills"],
): number | null {
  const shares = fills.reduce((sum, { quantity }) => sum + quantity, 0);
  if (shares === 0 || shares !== filledQuantity) return null;
  const yesCents = fills.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  return side === "yes" ? yesCents / shares : 100 - yesCents / shares;
}

/** Whether nothing of an outcome has to be read. */
export function isComplete({ averagePrice, feeCents, filledQuantity }: Outcome): boolean {
  return filledQuantity === 0 || (averagePrice !== null && feeCents !== null);
}

/** Whether nothing more can become of an order. */
export function isFinal({ status }: Outcome): boolean {
  return status === "filled" || status === "cancelled";
}
