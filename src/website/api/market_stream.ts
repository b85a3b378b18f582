import { effect, signal } from "@preact/signals";
import { publicApi } from "./client.ts";
import { openStream } from "./events.ts";
import type { Connection } from "./events.ts";
import { resultOf } from "./result.ts";
import { marketTurn, statusTurn } from "./stream_turns.ts";
import type { MarketChange, MarketStatus, Snapshot } from "./types.ts";

/** What a page shows of a market's trading: a snapshot, or what was read in its place. */
export type Trading = Omit<Snapshot, "tradersCount"> & Partial<Snapshot>;

/** How the stream of the market that is shown is doing; live when none is shown. */
export const marketConnection = signal<Connection>("live");

/** The book of the market that is shown; undefined until it is here. */
export const shownBook = signal<Snapshot["orderBook"] | undefined>(undefined);

/** How often a page reads that waits for its turn to have a stream. */
export const READ_WAITING_EVERY_MS = 15_000;

/**
 * Follows the trading of a market until the returned function is called. Snapshots that come
 * between two pictures of the screen are skipped: each one is complete. While other windows have
 * all streams, the book and the trades are read from time to time.
 */
export function followMarket(id: string, onTrading: (trading: Trading) => void): () => void {
  let latest: Trading | undefined;
  let frame = 0;
  const show = (trading: Trading): void => {
    latest = trading;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (latest === undefined) return;
      shownBook.value = latest.orderBook;
      onTrading(latest);
    });
  };
  const stream = openStream({
    path: `/api/stream/market/${id}`,
    onData: (data) => {
      show(data as Snapshot);
    },
    takeTurn: marketTurn,
  });
  const stopFollowing = effect(() => {
    marketConnection.value = stream.connection.value;
  });
  const stopReading = effect(() => {
    if (stream.connection.value !== "waiting") return undefined;
    const read = (): void => {
      if (document.hidden) return;
      void readTrading(id).then((trading) => {
        if (trading !== undefined && stream.connection.peek() === "waiting") show(trading);
      });
    };
    read();
    const timer = setInterval(read, READ_WAITING_EVERY_MS);
    return () => {
      clearInterval(timer);
    };
  });
  return () => {
    cancelAnimationFrame(frame);
    stopFollowing();
    stopReading();
    stream.close();
    marketConnection.value = "live";
    shownBook.value = undefined;
  };
}

/** The trading of a market as it is now; undefined if it could not be read. */
async function readTrading(id: string): Promise<Trading | undefined> {
  const path = { id };
  const [book, trades] = await Promise.all([
    resultOf(publicApi.GET("/api/v1/markets/{id}/orderbook", { params: { path } })),
    resultOf(
      publicApi.GET("/api/v1/markets/{id}/trades", { params: { path, query: { limit: 50 } } }),
    ),
  ]);
  if (!book.ok || !trades.ok) return undefined;
  const { bids, asks } = book.data;
  return {
    orderBook: {
      yesBids: bids,
      noBids: asks.map(({ price, quantity }) => ({ price: 100 - price, quantity })),
    },
    // Who took part in them, only the stream says.
    recentTrades: trades.data.data.map(({ price, quantity, createdAt }) => ({
      price,
      quantity,
      createdAt,
      takerName: null,
      takerHandle: null,
      takerPrivate: false,
      side: null,
    })),
  };
}

/**
 * Follows the status of a market, which snapshots do not have, until the returned function is
 * called. Other windows of this browser may have the stream: then nothing is heard.
 */
export function followStatus(id: string, onStatus: (status: MarketStatus) => void): () => void {
  const { close } = openStream({
    path: `/api/v1/stream?markets=${id}`,
    onData: (data) => {
      const change = data as MarketChange;
      onStatus("snapshot" in change ? change.snapshot.status : change.status);
    },
    takeTurn: statusTurn,
  });
  return close;
}
