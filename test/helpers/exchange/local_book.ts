/** A market as a client keeps it by a stream of changes. */
export interface LocalBook {
  version: number;
  status: string;
  /** Shares by "side price". */
  levels: Map<string, number>;
  tradeIds: string[];
  snapshots: number;
}

/** Applies a frame to the books of a client. Throws if a change is not one of the state before. */
export function applyFrame(books: Map<string, LocalBook>, frame: any): void {
  const { marketId, version, snapshot } = frame;
  const book = books.get(marketId);
  if (snapshot !== undefined) {
    const { yesBids, noBids } = snapshot.orderBook;
    const levels = new Map<string, number>();
    for (const { price, quantity } of yesBids) levels.set(`yes ${price}`, quantity);
    for (const { price, quantity } of noBids) levels.set(`no ${price}`, quantity);
    const tradeIds = book?.tradeIds ?? [];
    const snapshots = (book?.snapshots ?? 0) + 1;
    books.set(marketId, { version, status: snapshot.status, levels, tradeIds, snapshots });
    return;
  }
  if (book === undefined) throw new Error("a change before the snapshot");
  if (frame.since !== book.version) throw new Error(`${frame.since} is not ${book.version}`);
  if (version < frame.since) throw new Error("the version goes back");
  for (const [side, price, quantity] of frame.levels) {
    const key = `${side} ${price}`;
    if (book.levels.get(key) === quantity) throw new Error("the level has not changed");
    if (quantity > 0) book.levels.set(key, quantity);
    else if (!book.levels.delete(key)) throw new Error("a level goes that was not there");
  }
  book.tradeIds.push(...frame.trades.map(({ id }: { id: string }) => id));
  book.version = version;
  book.status = frame.status;
}

/** The levels of GET /markets/:id/orderbook in the same form. */
export function levelsOf({ bids, asks }: { bids: any[]; asks: any[] }): Map<string, number> {
  return new Map([
    ...bids.map(({ price, quantity }) => [`yes ${price}`, quantity] as const),
    ...asks.map(({ price, quantity }) => [`no ${100 - price}`, quantity] as const),
  ]);
}
