import type { OrderRequest } from "../database/calls.ts";

/** Each of these amounts adds the expected work of one small order. */
const SHARES_OF_WORK = 2500;
const CENTS_OF_WORK = 250_000;

/** Orders that one call takes of a slow market. */
const MOST_WHEN_SLOW = 8;

/** A call is slow if it took longer than this, and longer than a fifth of it per unit of work. */
const SLOW_MS = 50;

/** Whether a call took long for its expected work. */
export function wasSlow(milliseconds: number, work: number, slowMs = SLOW_MS): boolean {
  return milliseconds > slowMs && milliseconds / work > slowMs / 5;
}

/** The expected work of an order, in units of a small one. */
export function workOf({ quantity, budgetCents }: OrderRequest): number {
  const units = Math.max((quantity ?? 0) / SHARES_OF_WORK, (budgetCents ?? 0) / CENTS_OF_WORK);
  return 1 + Math.floor(units);
}

/** What a call may take. */
export interface CallBounds {
  /** Expected work, in units of a small order. One order is always taken, whatever its work. */
  mostWork: number;
  /** The market is slow: take few orders, and one of each user. */
  isSlow?: boolean;
  /** Whether an order must wait for one of its user that is placed by itself. */
  isHeld?: (request: OrderRequest) => boolean;
}

interface Cursor<T> {
  queue: T[];
  /** The first order that was not looked at. */
  next: number;
  taken: Set<T>;
  /** Users of whom this call takes no more orders from this queue. */
  passed: Set<string>;
}

/**
 * Takes the orders of one call out of the queues of several markets: the first of each queue, then
 * the second of each, until the work suffices, so that a long queue does not displace the short
 * ones. Orders of one user never overtake each other in a queue.
 */
export function chooseOrders<T extends { request: OrderRequest }>(
  queues: T[][],
  { mostWork, isSlow = false, isHeld = () => false }: CallBounds,
): T[] {
  const chosen: T[] = [];
  let workLeft = mostWork;
  let cursors = queues.map((queue): Cursor<T> => ({
    queue,
    next: 0,
    taken: new Set(),
    passed: new Set(),
  }));
  const all = cursors;

  /** The next order of a queue that this call may take. */
  function nextOf({ queue, next, passed }: Cursor<T>): [order: T | undefined, next: number] {
    for (let place = next; place < queue.length; place++) {
      const order = queue[place];
      if (order === undefined || passed.has(order.request.userId)) continue;
      if (isHeld(order.request)) passed.add(order.request.userId);
      else return [order, place + 1];
    }
    return [undefined, queue.length];
  }

  function isTaken(cursor: Cursor<T>): boolean {
    const [order, next] = nextOf(cursor);
    cursor.next = next;
    if (order === undefined) return false;
    const work = workOf(order.request);
    if (chosen.length > 0 && work > workLeft) return false;
    if (isSlow && chosen.length === MOST_WHEN_SLOW) return false;
    if (isSlow) cursor.passed.add(order.request.userId);
    cursor.taken.add(order);
    chosen.push(order);
    workLeft -= work;
    return true;
  }

  while (cursors.length > 0 && workLeft > 0) cursors = cursors.filter(isTaken);
  for (const { queue, taken } of all) {
    if (taken.size === queue.length) queue.length = 0;
    else if (taken.size > 0) {
      queue.splice(0, queue.length, ...queue.filter((order) => !taken.has(order)));
    }
  }
  return chosen;
}
