import { setTimeout as delay } from "node:timers/promises";
import { openEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";

/** Clients that read what standbys may answer, and see whether it is ever older than it may be. */

export interface ReadersOptions {
  /** Of the servers: an order goes to one, and the reads after it to another. */
  urls: string[];
  marketIds: string[];
  apiKeys: string[];
}

export interface Readers {
  /** From now on a read may fail, until `demand`: the primary is away. */
  excuse: () => void;
  demand: () => void;
  /** How many reads were answered so far. */
  count: () => number;
  /** Ends them. What was wrong, in words. */
  stop: () => Promise<string[]>;
}

const RETRY_MS = 50;
const otherReads = [
  "/api/v1/markets",
  "/api/v1/categories",
  "/api/v1/events",
  "/api/v1/leaderboard",
  "/api/v1/exchange",
];

export function startReaders({ urls, marketIds, apiKeys }: ReadersOptions): Readers {
  const state = { isStopping: false, isExcused: false, count: 0 };
  const faults: string[] = [];
  const open = new Set<EventSource>();

  const isStopping = (): boolean => state.isStopping;
  const fault = (text: string): void => {
    if (!state.isExcused) faults.push(text);
  };

  async function read(url: string): Promise<Response | undefined> {
    const wasExcused = state.isExcused;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
      await response.arrayBuffer();
      if (response.ok) {
        state.count++;
        return response;
      }
      if (!wasExcused) fault(`${response.status} of ${url}`);
    } catch (error) {
      if (!wasExcused) fault(`${String(error)} of ${url}`);
    }
    await delay(RETRY_MS);
    return undefined;
  }

  /** Places an order at one server; what another one shows then has it. */
  async function readOwnWrite(index: number, times: number): Promise<void> {
    const at = (offset: number): string => urls[(index + times + offset) % urls.length] ?? "";
    const marketId = marketIds[times % marketIds.length] ?? "";
    const version = await placeOrder(`${at(0)}/api/v1/orders`, marketId, apiKeys[index] ?? "");
    if (version === undefined) return;
    for (const view of ["/orderbook", "", "/rules", "/chance"]) {
      const url = `${at(1)}/api/v1/markets/${marketId}${view}`;
      const shown = (await read(url))?.headers.get("x-market-version") ?? undefined;
      if (shown !== undefined && Number(shown) < version) {
        faults.push(`after ${version} came ${shown} of ${url}`);
      }
    }
  }

  async function runReader(index: number): Promise<void> {
    for (let times = 0; !state.isStopping; times++) {
      await readOwnWrite(index, times);
      const path = otherReads[times % otherReads.length] ?? "";
      await read((urls[times % urls.length] ?? "") + path);
    }
  }

  async function runStream(url: string): Promise<void> {
    while (!state.isStopping) {
      const stream = await openEvents(url).catch(() => undefined);
      if (isStopping()) {
        // It was stopped meanwhile, when there was no stream to close yet.
        stream?.close();
        return;
      }
      if (stream?.status === 200) {
        open.add(stream);
        await follow(url, stream);
        open.delete(stream);
      }
      if (!isStopping()) fault(`the stream ${url} ended, or was not opened`);
      await delay(RETRY_MS);
    }
  }

  /** Until it ends. */
  async function follow(url: string, stream: EventSource): Promise<void> {
    let last = 0;
    let frame = await stream.next().catch(() => undefined);
    while (frame !== undefined) {
      const id = Number(frame.id ?? last);
      if (id < last) faults.push(`after ${last} came ${id} in the stream ${url}`);
      last = id;
      frame = await stream.next().catch(() => undefined);
    }
  }

  const streams = urls.flatMap((url) =>
    marketIds.map((id) => runStream(`${url}/api/v1/markets/${id}/stream`)),
  );
  const running = [...apiKeys.map((_, index) => runReader(index)), ...streams];
  return {
    excuse: () => {
      state.isExcused = true;
    },
    demand: () => {
      state.isExcused = false;
    },
    count: () => state.count,
    stop: async () => {
      state.isStopping = true;
      for (const stream of open) stream.close();
      await Promise.all(running);
      return faults;
    },
  };
}

/** The version of the market that the order made; undefined if it was not answered. */
async function placeOrder(
  url: string,
  marketId: string,
  apiKey: string,
): Promise<number | undefined> {
  const order = { marketId, side: "yes", price: 1 + Math.floor(Math.random() * 9), quantity: 1 };
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    const version = response.headers.get("x-market-version");
    return response.ok && version !== null ? Number(version) : undefined;
  } catch {
    await delay(RETRY_MS);
    return undefined;
  }
}
