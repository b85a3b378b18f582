import type { Market } from "../../api/types.ts";

/** The widest spread, in cents, whose middle says what traders think. */
export const WIDEST_SPREAD = 10;

/** What a chance is made of: `held` is a last price that lay outside of bid and ask. */
export type ChanceKind = "mid" | "last" | "held" | "none";

export interface Chance {
  chance: number | null;
  kind: ChanceKind;
}

/**
 * The chance of YES that a page shows of a market, by the rule of `trading.chance_of` in the database:
 * the middle of bid and ask while they are at most ten cents apart; else the price of the last trade,
 * held between bid and ask; none before the first trade.
 */
export function chanceOf({
  bestAsk,
  bestBid,
  lastTradePrice,
}: Pick<Market, "bestAsk" | "bestBid" | "lastTradePrice">): Chance {
  if (bestBid !== null && bestAsk !== null && bestAsk - bestBid <= WIDEST_SPREAD) {
    return { chance: (bestBid + bestAsk) / 2, kind: "mid" };
  }
  if (lastTradePrice === null) return { chance: null, kind: "none" };
  const chance = Math.min(Math.max(lastTradePrice, bestBid ?? 0), bestAsk ?? 100);
  return { chance, kind: chance === lastTradePrice ? "last" : "held" };
}
