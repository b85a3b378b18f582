import http from "node:http";
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { request } from "./load.ts";
import type { StreamClient } from "./stream_clients.ts";

/** Orders to which something happens at a time, by the worker: a release, or an expiry. */

export interface TimedOrdersOptions {
  urls: readonly string[];
  apiKey: string;
  /** A market that is live, and one that is not. */
  liveMarketId: string;
  marketId: string;
}

/** What its client was told. By `Date.now()`. */
interface TimedOrder {
  orderId: string;
  event: "order_released" | "order_cancelled";
  /** Not before. */
  dueAt: number;
}

export interface TimedOrders {
  stop: () => Promise<TimedOrder[]>;
}

const PAUSE_MS = 200;
const EXPIRES_AFTER_MS = 1500;

export function startTimedOrders(options: TimedOrdersOptions): TimedOrders {
  const { urls, apiKey, liveMarketId, marketId } = options;
  const state = { isStopping: false };
  const orders: TimedOrder[] = [];

  async function placeOne(agent: http.Agent, isLive: boolean): Promise<void> {
    const expiresAt = Date.now() + EXPIRES_AFTER_MS;
    const body = {
      ...{ side: "yes", price: 1, quantity: 1, marketId: isLive ? liveMarketId : marketId },
      ...(!isLive && { expiresAt: new Date(expiresAt).toISOString() }),
    };
    const url = `${urls[randomInt(urls.length)] ?? ""}/api/v1/orders`;
    const answer = await request({ url, method: "POST", agent, apiKey, body });
    if (answer.kind !== "accepted") return;
    const { id, releaseAt } = (JSON.parse(answer.text) as { order: Placed }).order;
    if (!isLive) orders.push({ orderId: id, event: "order_cancelled", dueAt: expiresAt });
    else if (typeof releaseAt === "string") {
      orders.push({ orderId: id, event: "order_released", dueAt: Date.parse(releaseAt) });
    }
  }

  async function run(): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let number = 0; !state.isStopping; number++) {
      await placeOne(agent, number % 2 === 0);
      await delay(PAUSE_MS);
    }
    agent.destroy();
  }

  const running = run();
  return {
    stop: async () => {
      state.isStopping = true;
      await running;
      return orders;
    },
  };
}

interface Placed {
  id: string;
  releaseAt?: string | null;
}

/** What did not happen to these orders once and in time, by the database and by their user's stream. */
export async function untimely(
  client: Client,
  orders: TimedOrder[],
  stream: StreamClient,
  mostLateMs: number,
): Promise<string[]> {
  const { rows } = await client.query<{
    id: string;
    releasedAt: Date | null;
    endedAt: Date | null;
  }>(
    `select public_id as id, released_at as "releasedAt", cancelled_at as "endedAt"
     from trading.orders where public_id = any ($1)`,
    [orders.map(({ orderId }) => orderId)],
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  return orders.flatMap(({ orderId, event, dueAt }) => {
    const row = stored.get(orderId);
    const at = (event === "order_released" ? row?.releasedAt : row?.endedAt)?.getTime();
    const told = stream.frames.filter(
      ({ data }) => data.type === event && data.orderId === orderId,
    ).length;
    if (told !== 1) return [`${event} of ${orderId} was told ${told} times`];
    if (at === undefined) return [`${event} of ${orderId} has not happened`];
    if (at < dueAt) return [`${event} of ${orderId} came ${dueAt - at} ms early`];
    return at > dueAt + mostLateMs ? [`${event} of ${orderId} came ${at - dueAt} ms late`] : [];
  });
}
