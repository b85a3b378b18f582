import type { PlaceOrder } from "./types.ts";

/** An order that was sent and whose answer is not here yet. */
export interface PendingOrder {
  idempotencyKey: string;
  marketTitle: string;
  order: PlaceOrder;
}

const NAME = "pgmarkets.pending-order";

/** Keeps the order, with its key, over a reload of this tab. */
export function rememberPending(pending: PendingOrder): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(pending));
  } catch {
    // Without storage the key lasts as long as the page.
  }
}

/** The answer is here. */
export function forgetPending(): void {
  try {
    sessionStorage.removeItem(NAME);
  } catch {
    // There was nothing to forget.
  }
}

/** The order that was being sent when the page was left, if one was. */
export function readPending(): PendingOrder | undefined {
  try {
    const text = sessionStorage.getItem(NAME);
    return text === null ? undefined : (JSON.parse(text) as PendingOrder);
  } catch {
    return undefined;
  }
}
