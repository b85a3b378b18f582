import type { Snapshot } from "../../api/types.ts";

/** A price level as the ladder shows it, in prices of YES. */
export interface LadderRow {
  price: number;
  quantity: number;
  /** Shares from the best price to this one. */
  depth: number;
}

export interface Ladder {
  /** Offers to sell YES, the best (lowest) first. */
  asks: LadderRow[];
  /** Offers to buy YES, the best (highest) first. */
  bids: LadderRow[];
  /** Of the deepest row shown: what the bars are measured by. */
  deepest: number;
  /** Best ask less best bid; null when a side is empty. */
  spread: number | null;
}

/** The best levels of a book. An offer to buy NO at 40 is one to sell YES at 60. */
export function ladderOf({ yesBids, noBids }: Snapshot["orderBook"], most: number): Ladder {
  const bids = withDepth(yesBids.slice(0, most));
  const asks = withDepth(
    noBids.slice(0, most).map(({ price, quantity }) => ({ price: 100 - price, quantity })),
  );
  const [bestAsk, bestBid] = [asks[0], bids[0]];
  return {
    asks,
    bids,
    deepest: Math.max(asks.at(-1)?.depth ?? 0, bids.at(-1)?.depth ?? 0),
    spread: bestAsk === undefined || bestBid === undefined ? null : bestAsk.price - bestBid.price,
  };
}

function withDepth(levels: { price: number; quantity: number }[]): LadderRow[] {
  let depth = 0;
  return levels.map(({ price, quantity }) => ({ price, quantity, depth: (depth += quantity) }));
}
