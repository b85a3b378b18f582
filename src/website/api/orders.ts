import { ownApi } from "./client.ts";
import { announceChange } from "./own_changes.ts";
import { forgetPending, rememberPending } from "./pending_order.ts";
import type { PendingOrder } from "./pending_order.ts";
import { isTemporary, isUncertain, resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { PlacedOrder } from "./types.ts";

/** How often an order is sent before the user is asked, and how long to wait between. */
const WAITS_MS = [400, 800, 1600, 3200, 6400, 6400, 6400];

/**
 * Places an order. While it is not known what became of it, it is sent again with the same
 * idempotency key, so that it is placed once at most. The key is kept until there is an answer.
 */
export async function placeOrder(
  pending: PendingOrder,
  onWaiting: () => void,
): Promise<Result<PlacedOrder>> {
  rememberPending(pending);
  let result = await send(pending);
  for (const wait of WAITS_MS) {
    if (result.ok || !isTemporary(result.problem)) break;
    onWaiting();
    await new Promise((done) => setTimeout(done, wait));
    result = await send(pending);
  }
  if (result.ok || !isUncertain(result.problem)) forgetPending();
  announceChange();
  return result;
}

async function send({ idempotencyKey, order }: PendingOrder): Promise<Result<PlacedOrder>> {
  return await resultOf(ownApi.POST("/api/v1/orders", { body: { ...order, idempotencyKey } }));
}

/** Cancels one of the user's orders. */
export async function cancelOrder(id: string): Promise<Result<unknown>> {
  const result = await resultOf(ownApi.DELETE("/api/v1/orders/{id}", { params: { path: { id } } }));
  announceChange();
  return result;
}

/** Changes price, quantity or both of one of the user's orders. */
export async function amendOrder(
  id: string,
  change: { price?: number; quantity?: number },
): Promise<Result<unknown>> {
  const request = { params: { path: { id } }, body: change };
  const result = await resultOf(ownApi.PATCH("/api/v1/orders/{id}", request));
  announceChange();
  return result;
}

const MOST_IN_A_BATCH = 100;

/** Cancels these orders of the user. Says how many could not be cancelled. */
export async function cancelOrders(orderIds: string[]): Promise<Result<{ failures: number }>> {
  let failures = 0;
  for (let start = 0; start < orderIds.length; start += MOST_IN_A_BATCH) {
    const body = { orderIds: orderIds.slice(start, start + MOST_IN_A_BATCH) };
    const result = await resultOf(ownApi.POST("/api/v1/orders/cancel-batch", { body }));
    if (!result.ok) return result;
    failures += result.data.failures.length;
  }
  announceChange();
  return { ok: true, data: { failures } };
}
