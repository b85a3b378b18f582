import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Command } from "./load.ts";

/** Clients that send commands with keys, and clients that have a dead man's switch. */

/** A command with a key. It is sent until its outcome is known, and once more after the kill. */
export interface Keyed extends Command {
  what: "amend" | "cancel" | "split" | "merge" | "batch" | "cancel-batch" | "cancel-all" | "switch";
  /** The number of the client, and of its user. */
  user: number;
  method: string;
  path: string;
  body: object | undefined;
  key: string;
  /** The only one of an order that amends it. */
  orderId?: string;
  /** Of the orders of a batch: nothing else in the database has them. */
  expiries?: string[];
}

/** A switch that is set or renewed. */
export interface SwitchSet extends Keyed {
  timeoutMs: number;
  /** When it was sent, and when its last answer came before the drill sent it again. */
  sentAt: number;
  answeredAt: number;
}

/** What a client is here for. */
export type Role = "plain" | "renews its switch" | "is gone at times" | "sends keys";

const roles: Role[] = ["plain", "renews its switch", "is gone at times", "sends keys"];

export const roleOf = (user: number): Role => roles[user % roles.length] ?? "plain";

/** So often that it never expires, unless what is to renew it is killed. */
export const RENEWED = { everyMs: 300, timeoutMs: 2000 } as const;
/** So seldom that it expires each time. */
export const GONE = { everyMs: 2500, timeoutMs: 1000 } as const;

/** How a client sends a command until it knows the outcome. */
export type SendKeyed = (keyed: Keyed) => Promise<void>;

interface Asked {
  user: number;
  marketIds: string[];
  /** Orders that may be open, from which each command takes those that it is about. */
  openOrderIds: string[];
  nextExpiry: () => string;
}

/** A random command with a key. */
export function randomKeyed({ user, marketIds, openOrderIds, nextExpiry }: Asked): Keyed {
  const key = randomUUID();
  const common = { user, key, answers: [] as Answer[] };
  const marketId = marketIds[randomInt(marketIds.length)];
  const post = (what: Keyed["what"], path: string, body: object): Keyed => ({
    ...{ ...common, what, method: "POST", path, body },
  });
  const luck = Math.random();
  const orderId = luck < 0.5 ? openOrderIds.shift() : undefined;
  if (orderId !== undefined && luck < 0.3) {
    const body = { price: randomInt(35, 66), quantity: randomInt(21, 30) };
    const path = `/api/v1/orders/${orderId}`;
    return { ...common, what: "amend", method: "PATCH", path, body, orderId };
  }
  if (orderId !== undefined && luck < 0.4) {
    const path = `/api/v1/orders/${orderId}`;
    return { ...common, what: "cancel", method: "DELETE", path, body: undefined, orderId };
  }
  if (orderId !== undefined) {
    const orderIds = [orderId, ...openOrderIds.splice(0, 2)];
    return post("cancel-batch", "/api/v1/orders/cancel-batch", { orderIds });
  }
  if (luck < 0.65) return post("split", "/api/v1/positions/split", { marketId, quantity: 2 });
  if (luck < 0.75) return post("merge", "/api/v1/positions/merge", { marketId, quantity: 1 });
  if (luck < 0.78) return post("cancel-all", "/api/v1/orders/cancel-all", { marketId });
  const expiries = Array.from({ length: randomInt(1, 5) }, nextExpiry);
  const orders = expiries.map((expiresAt, index) => ({
    marketId: marketIds[(user + index) % marketIds.length],
    side: Math.random() < 0.5 ? "yes" : "no",
    price: randomInt(35, 66),
    quantity: randomInt(1, 20),
    expiresAt,
    ...(Math.random() < 0.2 && { timeInForce: "fok" }),
    ...(Math.random() < 0.5 && { selfTrade: "cancel_resting" }),
  }));
  return { ...post("batch", "/api/v1/orders/batch", { orders }), expiries };
}

/** Sets the switch of a client whenever it is time. */
export function switchKeeper(
  user: number,
  send: SendKeyed,
  write: (set: SwitchSet) => void,
): () => Promise<void> {
  const role = roleOf(user);
  if (role !== "renews its switch" && role !== "is gone at times") return () => Promise.resolve();
  const { everyMs, timeoutMs } = role === "renews its switch" ? RENEWED : GONE;
  let lastSentAt = -Infinity;
  return async () => {
    if (Date.now() - lastSentAt < everyMs) return;
    lastSentAt = Date.now();
    const set: SwitchSet = {
      ...{ what: "switch", user, method: "PUT", path: "/api/v1/orders/dead-man" },
      ...{ body: { timeoutMs }, key: randomUUID(), timeoutMs },
      ...{ sentAt: lastSentAt, answeredAt: Infinity, answers: [] },
    };
    write(set);
    await send(set);
    set.answeredAt = Date.now();
  };
}

/** Sends commands that were accepted once more, some at a time. */
export async function sendAgain(
  keyed: Keyed[],
  send: (one: Keyed) => Promise<Answer>,
): Promise<void> {
  const left = keyed.filter(({ answers }) => answers.at(-1)?.kind === "accepted").values();
  const sender = async (): Promise<void> => {
    for (const one of left) {
      let answer = await send(one);
      for (let attempt = 0; attempt < 100 && answer.kind !== "accepted"; attempt++) {
        await delay(100);
        answer = await send(one);
      }
      one.answers.push({ ...answer, isRepetition: true });
    }
  };
  await Promise.all(Array.from({ length: 8 }, sender));
}
