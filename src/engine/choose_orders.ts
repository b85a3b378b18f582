import type { OrderRequest } from "../database/calls.ts";

/** Each of these amounts adds the expected work of one small order. */
const SHARES_OF_WORK = 2500;
const CENTS_OF_WORK = 250_000;

/** A call is slow if it took longer than this, and longer than a fifth of this for each unit of work. */
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
export interface CallBounds<T> {
  /** Expected work, in units of a small order. One order is always taken, whatever its work. */
  mostWork: number;
  mostOrders?: number;
  /** Take one order of each user in a queue. */
  onePerUser?: boolean;
  /** Whether an order, and what its user sent behind it, must wait. */
  isHeld?: (order: T) => boolean;
}

/**
 * The orders of a queue that a call may take, in their order: none behind one of the same user that
 * is held, so that orders of one user never overtake each other.
 */
export function* freeOrders<T extends { request: OrderRequest }>(
  queue: T[],
  isHeld: (order: T) => boolean,
  onePerUser = false,
): Generator<T, void> {
  const passed = new Set<string>();
  for (const order of queue) {
    const { userId } = order.request;
    if (passed.has(userId)) continue;
    const held = isHeld(order);
    if (held || onePerUser) passed.add(userId);
    if (!held) yield order;
  }
}

/**
 * Takes the orders of one call out of the queues of several markets: the first of each queue, then
 * the second of each, until the work suffices, so that a long queue does not displace the short
 * ones.
 */
export function chooseOrders<T extends { request: OrderRequest }>(
  queues: T[][],
  { mostWork, mostOrders = Infinity, onePerUser = false, isHeld = () => false }: CallBounds<T>,
): T[] {
  const chosen: T[] = [];
  let workLeft = mostWork;
  const all = queues.map((queue) => ({
    queue,
    free: freeOrders(queue, isHeld, onePerUser),
    taken: new Set<T>(),
  }));

  let turns = all;
  while (turns.length > 0 && workLeft > 0) {
    turns = turns.filter(({ free, taken }) => {
      const { done, value: order } = free.next();
      if (done) return false;
      const work = workOf(order.request);
      if (chosen.length > 0 && work > workLeft) return false;
      if (chosen.length >= mostOrders) return false;
      taken.add(order);
      chosen.push(order);
      workLeft -= work;
      return true;
    });
  }
  for (const { queue, taken } of all) {
    if (taken.size === queue.length) queue.length = 0;
    else if (taken.size > 0) {
      queue.splice(0, queue.length, ...queue.filter((order) => !taken.has(order)));
    }
  }
  return chosen;
}
