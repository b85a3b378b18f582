import type { Market } from "../../api/types.ts";
import type { Ticket } from "./ticket_order.ts";

/** The price at which an order would trade at once, as the ticket's field has it; empty if none. */
export function bestPriceOf(
  { bestAsk, bestBid }: Pick<Market, "bestAsk" | "bestBid">,
  { orderType, side }: Pick<Ticket, "orderType" | "side">,
): string {
  const offer = (orderType === "buy") === (side === "yes") ? bestAsk : bestBid;
  if (offer === null) return "";
  return String(side === "yes" ? offer : 100 - offer);
}
