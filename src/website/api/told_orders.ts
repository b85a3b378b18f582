import type { PlacedOrder, UserEvent } from "./types.ts";

type Told = Pick<PlacedOrder["order"], "id" | "status">;

/** Orders whose answers said all that became of them so far, and how they were then. */
const told = new Map<string, Told["status"]>();
/** Events come soon after the answer. */
const MOST = 100;

/** Notes an order as its answer said it is. */
export function noteTold({ id, status }: Told): void {
  told.set(id, status);
  const [oldest] = told.keys();
  if (told.size > MOST && oldest !== undefined) told.delete(oldest);
}

/** Whether an event is about what an answer said. What an order takes at its release, none did. */
export function isTold(event: UserEvent): boolean {
  if (event.type === "order_pending") return told.has(event.orderId);
  if (event.type !== "fill" || event.liquidity !== "taker") return false;
  const status = told.get(event.orderId);
  return status !== undefined && status !== "scheduled";
}
