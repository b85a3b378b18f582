import { ApiError, parseJson } from "./api_error.ts";
import { keepOpen, readFrames } from "./connection.ts";
import type { OnConnection, StreamMeans } from "./connection.ts";
import type { components } from "./schema.d.ts";

/** A frame of a stream of changes: see MarketChange in `/docs`. */
export type MarketChange = components["schemas"]["MarketChange"];

type Status = components["schemas"]["Market"]["status"];
type Side = "yes" | "no";

/** Shares at a price. */
export interface Level {
  price: number;
  quantity: number;
}

/** The book of a market, in YES prices as in GET /markets/:id/orderbook. */
export interface LocalBook {
  readonly marketId: string;
  readonly version: number;
  readonly status: Status;
  /** The highest price first. */
  readonly bids: readonly Level[];
  /** The lowest price first. */
  readonly asks: readonly Level[];
  /** YES price; undefined before the first trade. */
  readonly lastTradePrice: number | undefined;
  /** False while the connection is lost: the book may have changed since. */
  readonly isCurrent: boolean;
}

export interface BooksOptions {
  /** Closes the books when it is aborted. */
  signal?: AbortSignal | undefined;
  onConnection?: OnConnection | undefined;
  /** Called with each frame, once it is in its book. */
  onChange?: ((change: MarketChange) => void) | undefined;
}

/**
 * Books of some markets, kept by a stream of their changes. Iterate to wait for changes: each step
 * has the latest book of a market that has changed since it was last handed out. A market that
 * changes often is not handed out for each change. Iterating throws an {@link ApiError} when the
 * stream cannot be opened again, and ends when the books are closed.
 */
export interface Books extends AsyncIterable<LocalBook> {
  /** The book as it is known now; undefined before the first snapshot. */
  book: (marketId: string) => LocalBook | undefined;
  /** Settles when each market has its first snapshot. */
  ready: () => Promise<void>;
  /** Settles when the books are closed. Rejects with what a new connection cannot repair. */
  closed: () => Promise<void>;
  close: () => void;
}

/** What is held of a market. */
interface Held {
  version: number;
  status: Status;
  lastTradePrice: number | undefined;
  /** Shares by price, of each side in its own prices. */
  shares: Record<Side, Map<number, number>>;
  isCurrent: boolean;
  /** As it was asked for, until something changes. */
  shown?: LocalBook | undefined;
}

const MOST_MARKETS = 200;

/** Opens the stream at once, and keeps the books until they are closed. */
export function openBooks(
  { url, marketIds }: { url: string; marketIds: readonly string[] },
  options: BooksOptions,
  means: StreamMeans,
): Books {
  const wanted = new Set(marketIds.map((id) => id.toLowerCase()));
  if (wanted.size === 0 || wanted.size > MOST_MARKETS) {
    throw new RangeError(`Books are of 1 to ${MOST_MARKETS} markets, and not of ${wanted.size}`);
  }
  const held = new Map<string, Held>();
  const news = makeNews();
  const closing = new AbortController();
  const close = () => {
    closing.abort();
    news.end();
  };
  if (options.signal?.aborted === true) close();
  options.signal?.addEventListener("abort", close, { once: true });
  let markReady: () => void;
  let failReady: (error: unknown) => void;
  const ready = new Promise<void>((resolve, reject) => {
    markReady = resolve;
    failReady = reject;
  });
  // The error is also that of closed().
  ready.catch(() => undefined);

  function lose(): void {
    for (const [marketId, market] of held) {
      if (!market.isCurrent) continue;
      market.isCurrent = false;
      market.shown = undefined;
      news.add(marketId);
    }
  }

  async function* changesOfConnection(
    onOpen: () => void,
  ): AsyncGenerator<MarketChange, void, undefined> {
    const place = { url: `${url}?markets=${[...wanted].join(",")}`, headers: {} };
    // By version, what this connection has brought: it begins with snapshots.
    const versions = new Map<string, number>();
    try {
      for await (const { data } of readFrames(place, means, { signal: closing.signal, onOpen })) {
        if (data === undefined) continue;
        const change = changeIn(data);
        const { marketId } = change;
        held.set(marketId, applied(change, held.get(marketId), versions.get(marketId)));
        versions.set(marketId, change.version);
        yield change;
      }
    } finally {
      lose();
    }
  }

  async function keep(): Promise<void> {
    const { onConnection } = options;
    const changes = keepOpen(changesOfConnection, means, { signal: closing.signal, onConnection });
    for await (const change of changes) {
      news.add(change.marketId);
      if (held.size === wanted.size) markReady();
      options.onChange?.(change);
    }
    failReady(new Error("The books were closed"));
  }

  const closed = keep().catch((error: unknown) => {
    closing.abort();
    failReady(error);
    news.fail(error);
    throw error;
  });
  // A program that waits for none of these has chosen not to hear of it.
  closed.catch(() => undefined);

  function book(marketId: string): LocalBook | undefined {
    const market = held.get(marketId.toLowerCase());
    return market && (market.shown ??= shownBook(marketId.toLowerCase(), market));
  }

  return {
    book,
    ready: () => ready,
    closed: () => closed,
    close,
    async *[Symbol.asyncIterator]() {
      for await (const marketId of news.follow(held.keys())) {
        const known = book(marketId);
        if (known !== undefined) yield known;
      }
    },
  };
}

function changeIn(data: string): MarketChange {
  const change = parseJson(data);
  if (change !== undefined && "marketId" in change) return change as MarketChange;
  throw new ApiError({ status: 200, code: "BAD_ANSWER", message: "A frame is not a change" });
}

/** A market after a change. Throws if the change is not one of the version that is held. */
function applied(
  change: MarketChange,
  market: Held | undefined,
  version: number | undefined,
): Held {
  if ("snapshot" in change) {
    const { orderBook, recentTrades, status } = change.snapshot;
    const shares = { yes: sharesOf(orderBook.yesBids), no: sharesOf(orderBook.noBids) };
    const lastTradePrice = recentTrades[0]?.price;
    return { version: change.version, status, lastTradePrice, shares, isCurrent: true };
  }
  if (market === undefined || change.since !== version) {
    const message = `A change of version ${change.since} came for version ${version ?? "none"}`;
    throw new ApiError({ status: 0, code: "OUT_OF_STEP", message });
  }
  for (const [side, price, quantity] of change.levels) {
    if (quantity === 0) market.shares[side].delete(price);
    else market.shares[side].set(price, quantity);
  }
  market.version = change.version;
  market.status = change.status;
  market.lastTradePrice = change.trades.at(-1)?.price ?? market.lastTradePrice;
  market.shown = undefined;
  return market;
}

function sharesOf(levels: readonly Level[]): Map<number, number> {
  return new Map(levels.map(({ price, quantity }) => [price, quantity]));
}

function shownBook(marketId: string, market: Held): LocalBook {
  const { version, status, lastTradePrice, shares, isCurrent } = market;
  const best = (side: Side) => [...shares[side]].sort(([a], [b]) => b - a);
  return {
    ...{ marketId, version, status, lastTradePrice, isCurrent },
    bids: best("yes").map(([price, quantity]) => ({ price, quantity })),
    // What is paid for NO at 37 is an offer of YES at 63.
    asks: best("no").map(([price, quantity]) => ({ price: 100 - price, quantity })),
  };
}

/** Which markets have changed, for each reader since it last looked. */
interface News {
  add: (marketId: string) => void;
  end: () => void;
  fail: (error: unknown) => void;
  follow: (known: Iterable<string>) => AsyncGenerator<string, void, undefined>;
}

function makeNews(): News {
  const readers = new Set<{ changed: Set<string>; wake: (() => void) | undefined }>();
  let isOver = false;
  let failure: { error: unknown } | undefined;
  const wakeAll = () => {
    for (const { wake } of readers) wake?.();
  };

  async function* follow(known: Iterable<string>): AsyncGenerator<string, void, undefined> {
    const reader = { changed: new Set(known), wake: undefined as (() => void) | undefined };
    readers.add(reader);
    try {
      for (;;) {
        for (const marketId of reader.changed) {
          reader.changed.delete(marketId);
          yield marketId;
        }
        if (failure !== undefined) throw failure.error;
        if (isOver) return;
        if (reader.changed.size > 0) continue;
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
      }
    } finally {
      readers.delete(reader);
    }
  }

  return {
    add: (marketId) => {
      for (const { changed } of readers) changed.add(marketId);
      wakeAll();
    },
    end: () => {
      isOver = true;
      wakeAll();
    },
    fail: (error) => {
      failure = { error };
      wakeAll();
    },
    follow,
  };
}
