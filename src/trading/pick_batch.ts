import type { OrderRequest } from "../database/api.ts";

/** An order of more shares, or for more cents, may meet very many others. */
const LARGE_SHARES = 500;
const LARGE_CENTS = 25_000;

/** What one call takes of a market whose calls have lately taken long. */
const MOST_WHEN_SLOW = 8;

/** A call is slow that took so long, and a fifth of that for each of its orders. */
const SLOW_MS = 50;

/** Whether the next call of a market should take little: its last one took long for its orders. */
export function wasSlow(milliseconds: number, orders: number, slowMs = SLOW_MS): boolean {
  return milliseconds > slowMs && milliseconds / orders > slowMs / 5;
}

/**
 * Takes the orders of the next call out of those that wait, in their order. Nobody waits for more
 * than one large order of another user: of each user one call takes one large order at most, and of
 * a slow market one order at all. Orders of one user never overtake each other.
 */
export function pickBatch<T extends { request: OrderRequest }>(
  waiting: T[],
  most: number,
  isSlow: boolean,
): T[] {
  const cap = isSlow ? Math.min(most, MOST_WHEN_SLOW) : most;
  const batch: T[] = [];
  const left: T[] = [];
  /** Users of whom this call takes no more. */
  const full = new Set<string>();
  for (const order of waiting) {
    const { userId } = order.request;
    if (batch.length === cap || full.has(userId)) {
      full.add(userId);
      left.push(order);
      continue;
    }
    if (isSlow || isLarge(order.request)) full.add(userId);
    batch.push(order);
  }
  waiting.splice(0, waiting.length, ...left);
  return batch;
}

function isLarge({ quantity, budgetCents }: OrderRequest): boolean {
  return (quantity ?? 0) > LARGE_SHARES || (budgetCents ?? 0) > LARGE_CENTS;
}
