import type { PlaceOrder, Preview, Snapshot } from "../../api/types.ts";
import { estimate } from "./estimate.ts";

/** The worst price among previewed fills, of the order's own side; undefined without fills. */
export function worstFillPrice(
  { side, orderType }: PlaceOrder,
  fills: Preview["fills"],
): number | undefined {
  if (fills.length === 0) return undefined;
  const prices = fills.map(({ price }) => (side === "yes" ? price : 100 - price));
  return orderType === "sell" ? Math.min(...prices) : Math.max(...prices);
}

/** What a page showed of an order before it was sent. */
export interface Shown {
  preview: Preview | undefined;
  book: Snapshot["orderBook"] | undefined;
  feeRateBps: number;
}

/**
 * An order as it is sent. One without a limit gets the worst price that was shown for it: it may
 * arrive late, above all when it is sent again, and must not trade at whatever price there is then.
 * Where nothing was shown, it stays as it is.
 */
export function atShownPrice(order: PlaceOrder, { preview, book, feeRateBps }: Shown): PlaceOrder {
  if (typeof order.price === "number") return order;
  const price =
    worstFillPrice(order, preview?.fills ?? []) ??
    (book === undefined ? null : estimate(order, book, { feeRateBps }).worstPrice);
  return price === null ? order : { ...order, price, timeInForce: "ioc" };
}
