import { stopTrying } from "./orders.ts";
import { pendingOrders } from "./pending_order.ts";
import { session } from "./session.ts";

/** Stops sending orders again when another user may have signed in: they would be that user's. */
export function stopOrdersOfOthers(): void {
  session.subscribe(() => {
    for (const { pending } of pendingOrders.peek()) stopTrying(pending.idempotencyKey);
  });
}
