import type { Order, OrderDetail, PlaceOrder } from "../api/types.ts";
import { formatCents, formatCount, formatPrice, formatShares } from "../format.ts";

/** Orders in words. */

type Terms = Pick<PlaceOrder, "orderType" | "side" | "price" | "quantity" | "budgetCents">;

/** "Buy 7 YES at 60¢", "Buy YES, budget €12.50", "Sell 5 NO at the market's price" */
export function orderWords({ orderType, side, price, quantity, budgetCents }: Terms): string {
  const verb = orderType === "sell" ? "Sell" : "Buy";
  const name = side.toUpperCase();
  if (typeof budgetCents === "number") return `${verb} ${name}, budget ${formatCents(budgetCents)}`;
  const terms = typeof price === "number" ? formatPrice(price) : "the market's price";
  return `${verb} ${formatCount(quantity ?? 0)} ${name} at ${terms}`;
}

const reasons: Record<NonNullable<Order["cancelReason"]>, string> = {
  user_cancelled: "you or an operator cancelled it",
  user_amended: "it was replaced",
  insufficient_funds: "there was not enough cash",
  market_closed: "the market closed or was paused",
  position_insufficient: "there were not enough shares",
  expired: "its time was over",
  // Trading was paused, or the account is frozen.
  trading_paused: "the exchange stopped it",
  self_trade: "it would have traded with an order of your own",
  post_only_would_cross: "it would have traded at once",
  insufficient_liquidity: "the book had no more for it",
  self_excluded: "you excluded yourself from trading",
  loss_limit: "one of your loss limits was reached",
};

export type Outcome = Pick<
  OrderDetail,
  "status" | "quantity" | "filledQuantity" | "averagePrice" | "cancelReason"
> & { feeCents: number | null };

/** What became of an order so far. `isOwnCancel`: it is known that the user cancelled it. */
export function outcomeWords(order: Outcome, isOwnCancel = false): string {
  const { status, quantity, filledQuantity, averagePrice, feeCents, cancelReason } = order;
  if (status === "scheduled") {
    return "Accepted. This market is live: the order waits for its release. You can cancel it until then.";
  }
  const parts: string[] = [];
  if (filledQuantity > 0) {
    const price = averagePrice === null ? "" : ` at ${formatPrice(averagePrice)} on average`;
    parts.push(`${formatShares(filledQuantity)} traded${price}.`);
    if (feeCents !== null) parts.push(`Fee ${formatCents(feeCents)}.`);
  }
  const rest = quantity - filledQuantity;
  if (status === "cancelled") {
    const reason = cancelReason === null ? "" : `: ${reasons[cancelReason]}`;
    if (isOwnCancel && cancelReason === "user_cancelled") {
      parts.push(
        filledQuantity > 0
          ? "You cancelled the rest."
          : "You cancelled the order. Nothing was traded.",
      );
    } else if (filledQuantity > 0) parts.push(`The rest was cancelled${reason}.`);
    else parts.push(`The order was cancelled${reason}. Nothing was traded.`);
  } else if (rest > 0 && status === "open") {
    parts.push(`Your order waits in the book for ${formatShares(rest)}.`);
  } else if (rest > 0 && status === "partially_filled") {
    parts.push(`The order waits in the book for ${formatShares(rest)} more.`);
  }
  return parts.join(" ");
}
