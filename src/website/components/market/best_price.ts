import type { Market, PlaceOrder, Snapshot } from "../../api/types.ts";
import type { Ticket } from "./ticket_order.ts";

/** The best prices of YES in a market. */
export type BestPrices = Pick<Market, "bestAsk" | "bestBid">;

/** What an order would meet, as its price says it. */
type Trade = Pick<Ticket, "orderType" | "side">;

/** The price at which an order would trade at once, as the ticket's field has it; empty if none. */
export function bestPriceOf(market: BestPrices, trade: Trade): string {
  const best = offerFor(market, trade);
  return best === undefined ? "" : String(best);
}

/** The best prices of a book. */
export function bestPricesOf({ yesBids, noBids }: Snapshot["orderBook"]): BestPrices {
  const bestNoBid = noBids[0]?.price;
  return {
    bestBid: yesBids[0]?.price ?? null,
    bestAsk: bestNoBid === undefined ? null : 100 - bestNoBid,
  };
}

/** From how many cents on a limit is taken for a mistake. */
const FAR_CENTS = 10;

/** The best price, if the limit of an order is far beyond it: the order would pay more than it must. */
export function farBeyond(market: BestPrices, order: PlaceOrder): number | undefined {
  const { orderType, side, price } = order;
  const best = offerFor(market, { orderType: orderType ?? "buy", side });
  if (best === undefined || typeof price !== "number") return undefined;
  const beyond = orderType === "sell" ? best - price : price - best;
  return beyond >= FAR_CENTS ? best : undefined;
}

function offerFor(
  { bestAsk, bestBid }: BestPrices,
  { orderType, side }: Trade,
): number | undefined {
  const offer = (orderType === "buy") === (side === "yes") ? bestAsk : bestBid;
  if (offer === null) return undefined;
  return side === "yes" ? offer : 100 - offer;
}
