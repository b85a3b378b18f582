import { effect, signal } from "@preact/signals";
import { openStream } from "./events.ts";
import type { Connection } from "./events.ts";
import type { MarketChange, MarketStatus, Snapshot } from "./types.ts";

/** How the stream of the market that is shown is doing; live when none is shown. */
export const marketConnection = signal<Connection>("live");

/** The book of the market that is shown; undefined until it is here. */
export const shownBook = signal<Snapshot["orderBook"] | undefined>(undefined);

/**
 * Follows the snapshots of a market until the returned function is called. Snapshots that come
 * between two pictures of the screen are skipped: each one is complete.
 */
export function followMarket(id: string, onSnapshot: (snapshot: Snapshot) => void): () => void {
  let latest: Snapshot | undefined;
  let frame = 0;
  const stream = openStream({
    path: `/api/stream/market/${id}`,
    onData: (data) => {
      latest = data as Snapshot;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (latest === undefined) return;
        shownBook.value = latest.orderBook;
        onSnapshot(latest);
      });
    },
  });
  const stopFollowing = effect(() => {
    marketConnection.value = stream.connection.value;
  });
  return () => {
    cancelAnimationFrame(frame);
    stopFollowing();
    stream.close();
    marketConnection.value = "live";
    shownBook.value = undefined;
  };
}

/** Follows the status of a market, which snapshots do not have, until the returned function is called. */
export function followStatus(id: string, onStatus: (status: MarketStatus) => void): () => void {
  const { close } = openStream({
    path: `/api/v1/stream?markets=${id}`,
    onData: (data) => {
      const change = data as MarketChange;
      onStatus("snapshot" in change ? change.snapshot.status : change.status);
    },
  });
  return close;
}
