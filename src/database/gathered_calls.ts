import type { Pool, PoolClient } from "pg";
import { beforeAnything, DatabaseFailure, withRetries } from "./failures.ts";
import type { RetryOptions } from "./failures.ts";

export interface GatherOptions<Item, Result> {
  pool: Pool;
  /** Asks the database about several items; a result for each, in their order. May be repeated. */
  ask: (client: PoolClient, items: Item[]) => Promise<Result[]>;
  /** Items at most in one call. */
  batchCap?: number | undefined;
  /** Items at most that may wait; beyond it new ones are rejected. */
  waitingCap?: number | undefined;
  retries?: RetryOptions | undefined;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

const DEFAULT_BATCH_CAP = 500;
const DEFAULT_WAITING_CAP = 10_000;

/**
 * Asks about single items in shared calls. One call is under way at most. Items that come meanwhile
 * share the next one, so an item costs less in a busier process.
 */
export function gatherCalls<Item, Result>({
  pool,
  ask,
  batchCap = DEFAULT_BATCH_CAP,
  waitingCap = DEFAULT_WAITING_CAP,
  retries,
}: GatherOptions<Item, Result>): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) await askNext();
    running = false;
  }

  async function askNext(): Promise<void> {
    let batch: Waiting<Item, Result>[] = [];
    try {
      const results = await withRetries(
        pool,
        (client) => {
          // Taken once there is a connection, since more may have come.
          if (batch.length === 0) batch = waiting.splice(0, batchCap);
          return ask(
            client,
            batch.map(({ item }) => item),
          );
        },
        { ...retries, repeatable: true },
      );
      if (results.length !== batch.length) throw new RangeError("An item has no result");
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 0) {
        // There was no connection. Items that came later would fail in the same way.
        batch = waiting;
        waiting = [];
      }
      for (const { reject } of batch) reject(beforeAnything(error));
    }
  }

  return (item) => {
    if (waiting.length >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!running) void run();
    });
  };
}
