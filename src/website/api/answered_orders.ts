import { signal } from "@preact/signals";
import type { AmendedOrder, Order } from "./types.ts";

/**
 * What commands made of orders. A list of orders may be read only some time after a command, so it
 * shows at once what the answer said: a button of a row must not be about an order that is over.
 */

/** An order that a command changed. */
export interface ChangedOrder {
  id: string;
  /** The order as it is now, or another one in its place; undefined: it was cancelled. */
  becomes: AmendedOrder["order"] | undefined;
}

/** An order of a list, or as an answer after it said it is. */
export interface ListedOrder extends Omit<Order, "sharesAhead"> {
  /** Undefined of an order that took the place of another: nobody knows yet. */
  sharesAhead: number | undefined;
  /** When the answer came, by this page's clock. */
  answeredAt?: number;
}

interface NotedChange extends ChangedOrder {
  version: number;
  answeredAt: number;
}

const changes = signal<readonly NotedChange[]>([]);
/** Several times the orders of a list: each of them may be changed, and then cancelled. */
const MOST = 1000;

/** Whether another order took the place of this one. */
export function isReplaced({ id, becomes }: ChangedOrder): boolean {
  return becomes !== undefined && becomes.id !== id;
}

/** Whether the answer to a command said that its user cancelled this order. */
export function isCancelledByUser(orderId: string): boolean {
  return changes.value.some(({ id, becomes }) => id === orderId && becomes === undefined);
}

/** Notes what the answer to a command said, and the version of what was read before it. */
export function noteChangedOrders(changed: readonly ChangedOrder[], version: number): void {
  if (changed.length === 0) return;
  const answeredAt = performance.now();
  const noted = changed.map((change) => ({ ...change, version, answeredAt }));
  changes.value = [...changes.peek(), ...noted].slice(-MOST);
}

/** Open orders that were read in a version, as the answers since then say they are. */
export function asAnswered(orders: readonly Order[], version: number): ListedOrder[] {
  const since = changes.value.filter((change) => change.version >= version);
  return orders
    .map((order) => since.reduce<ListedOrder | undefined>(afterChange, order))
    .filter((order) => order !== undefined);
}

/** Undefined: the order is over. */
function afterChange(order: ListedOrder | undefined, change: NotedChange): ListedOrder | undefined {
  const { id, becomes, answeredAt } = change;
  if (order?.id !== id) return order;
  if (becomes === undefined || becomes.status === "filled" || becomes.status === "cancelled") {
    return undefined;
  }
  if (isReplaced(change)) return { ...order, ...becomes, answeredAt, sharesAhead: undefined };
  // The list may be the newer one: what is filled only grows.
  const filledQuantity = Math.max(order.filledQuantity, becomes.filledQuantity);
  return { ...order, ...becomes, answeredAt, filledQuantity };
}
