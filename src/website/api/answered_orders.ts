import { signal } from "@preact/signals";
import type { AmendedOrder, Order, PlacedOrder } from "./types.ts";

/**
 * What commands and releases made of orders. A list of orders may be read only some time after them,
 * so it shows at once what was said: an order that was placed has its buttons, and a button of a row
 * must not be about an order that is over.
 */

type AnsweredOrder = AmendedOrder["order"];

/** An order that a command or its release changed. */
export interface ChangedOrder {
  id: string;
  /** The order as it is now, or another one in its place; undefined: its user cancelled it. */
  becomes:
    (Pick<AnsweredOrder, "id" | "status" | "filledQuantity"> & Partial<AnsweredOrder>) | undefined;
}

/** An order that was placed, as the answer says. */
export type NewOrder = PlacedOrder["order"] & Pick<Order, "marketTitle">;

/** An order of a list, or as an answer after it said it is. */
export interface ListedOrder extends Omit<Order, "sharesAhead"> {
  /** Undefined of an order that is new, or took the place of another: nobody knows yet. */
  sharesAhead: number | undefined;
  /** When the answer came, by this page's clock. */
  answeredAt?: number;
}

interface Noted {
  answeredAt: number;
}

const placed = signal<readonly (ListedOrder & Noted)[]>([]);
const changes = signal<readonly (ChangedOrder & Noted)[]>([]);
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

/** Notes an order that was placed as the answer says. */
export function notePlacedOrder(order: NewOrder): void {
  if (isOver(order)) return;
  const { releaseAt = null, releaseInMs = null, budgetCents = null } = order;
  const answeredAt = performance.now();
  const noted = {
    ...order,
    releaseAt,
    releaseInMs,
    budgetCents,
    sharesAhead: undefined,
    answeredAt,
  };
  placed.value = [noted, ...placed.peek()].slice(0, MOST);
}

/** Notes what the answer to a command, or the event of a release, said. */
export function noteChangedOrders(changed: readonly ChangedOrder[]): void {
  if (changed.length === 0) return;
  const answeredAt = performance.now();
  const noted = changed.map((change) => ({ ...change, answeredAt }));
  changes.value = [...changes.peek(), ...noted].slice(-MOST);
}

interface Listing {
  /** When the server was asked for the list, by this page's clock. */
  askedAt: number;
  /** Of the list; undefined: it is of all markets. */
  marketId?: string;
}

/** Open orders of a list, newest first, as the answers since it was asked for say they are. */
export function asAnswered(
  orders: readonly Order[],
  { askedAt, marketId }: Listing,
): ListedOrder[] {
  const isSince = ({ answeredAt }: Noted): boolean => answeredAt >= askedAt;
  const since = changes.value.filter(isSince);
  const changed = (before: readonly ListedOrder[]): ListedOrder[] =>
    before
      .map((order) => since.reduce<ListedOrder | undefined>(afterChange, order))
      .filter((order) => order !== undefined);
  const listed = changed(orders);
  const known = new Set([...orders, ...listed].map(({ id }) => id));
  const isHere = (order: ListedOrder): boolean =>
    marketId === undefined || order.marketId === marketId;
  const added = changed(placed.value.filter(isSince).filter(isHere));
  return [...added.filter(({ id }) => !known.has(id)), ...listed];
}

function isOver({ status }: Pick<Order, "status">): boolean {
  return status === "filled" || status === "cancelled";
}

/** Undefined: the order is over. */
function afterChange(
  order: ListedOrder | undefined,
  change: ChangedOrder & Noted,
): ListedOrder | undefined {
  const { id, becomes, answeredAt } = change;
  if (order?.id !== id) return order;
  if (becomes === undefined || isOver(becomes)) return undefined;
  if (isReplaced(change)) return { ...order, ...becomes, answeredAt, sharesAhead: undefined };
  // The list may be the newer one: what is filled only grows.
  const filledQuantity = Math.max(order.filledQuantity, becomes.filledQuantity);
  return { ...order, ...becomes, answeredAt, filledQuantity };
}
