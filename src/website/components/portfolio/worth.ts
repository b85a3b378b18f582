import type { Position } from "../../api/types.ts";

/** Whether the shares were paid out: the server lists them on, but they are worth nothing more. */
export function isSettled({ marketStatus }: Pick<Position, "marketStatus">): boolean {
  return marketStatus === "resolved";
}

/** What the shares of a position had cost, without fees, by their average price. */
export function costOf({ avgPrice, quantity }: Pick<Position, "avgPrice" | "quantity">): number {
  return avgPrice * quantity;
}

/** What they are worth at the price of the last trade; null before the first one. */
export function worthOf({
  lastTradePrice,
  quantity,
  side,
}: Pick<Position, "lastTradePrice" | "quantity" | "side">): number | null {
  if (lastTradePrice === null) return null;
  return (side === "yes" ? lastTradePrice : 100 - lastTradePrice) * quantity;
}
