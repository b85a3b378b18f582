import { isDeepStrictEqual } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { applyFrame, levelsOf } from "../helpers/exchange/local_book.ts";
import type { LocalBook } from "../helpers/exchange/local_book.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";
import { until } from "../helpers/until.ts";

/** A client that keeps the books of some markets by the stream of their changes, by one server. */
export interface BookClient {
  /** Waits until its books are those of the server, and ends. What was wrong, in words. */
  stop: () => Promise<string[]>;
}

const RETRY_MS = 50;
const PATIENCE_MS = 20_000;

export function startBookClient(url: string, marketIds: readonly string[]): BookClient {
  const faults: string[] = [];
  let books = new Map<string, LocalBook>();
  let source: EventSource | undefined;
  const state = { isStopping: false };

  async function follow(): Promise<void> {
    source = await openEvents(`${url}/api/v1/stream?markets=${marketIds.join(",")}`);
    // It was stopped meanwhile, when there was another stream to close.
    if (state.isStopping) return;
    books = new Map();
    let frame = await source.next();
    for (;;) {
      try {
        applyFrame(books, frame.data);
      } catch (error) {
        faults.push(`${url}: ${String(error)}`);
      }
      frame = await source.next();
    }
  }

  async function run(): Promise<void> {
    while (!state.isStopping) {
      await follow().catch(() => undefined);
      source?.close();
      await delay(RETRY_MS);
    }
  }

  const running = run();

  async function isAsServed(marketId: string): Promise<boolean> {
    const response = await fetch(`${url}/api/v1/markets/${marketId}/orderbook`);
    const version = Number(response.headers.get("x-market-version"));
    const served = levelsOf((await response.json()) as { bids: object[]; asks: object[] });
    const book = books.get(marketId);
    return book?.version === version && isDeepStrictEqual(sorted(book.levels), sorted(served));
  }

  return {
    stop: async () => {
      for (const marketId of marketIds) {
        await until(
          `the book of ${marketId} is that of ${url}`,
          () => isAsServed(marketId).catch(() => false),
          PATIENCE_MS,
        ).catch((error: unknown) => faults.push(String(error)));
      }
      state.isStopping = true;
      source?.close();
      await running;
      return faults;
    },
  };
}

function sorted(levels: Map<string, number>): [string, number][] {
  return [...levels].sort(([a], [b]) => (a < b ? -1 : 1));
}
