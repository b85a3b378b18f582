import type { OrderRequest, Payment, PlacedOrder } from "../database/calls.ts";
import { createTally } from "../tally.ts";
import type { Tally } from "../tally.ts";
import { LANE_MAKERS } from "./ladder.ts";
import type { Rung } from "./ladder.ts";

/** The token of a request that is not counted yet: see http/access.ts. It is taken once. */
export interface Token {
  /** Takes it in a call of its own, unless it is taken, and waits so long if its bucket is locked. */
  take: (patienceMs?: number) => Promise<void>;
  /** The call of the order has taken it, or has found none. Then this fails. */
  taken: (payment: Payment) => void;
}

/** An order that waits for a call. Times are in milliseconds, by a clock that never goes back. */
export interface Waiting {
  request: OrderRequest;
  /** When it came, and until when it is placed, or placed again if it is told AGAIN. */
  since: number;
  until: number;
  resolve: (result: PlacedOrder) => void;
  reject: (error: unknown) => void;
  /** It is not counted yet: its call takes this token. */
  token: Token | undefined;
  /** A call has not placed it. */
  wasTried: boolean;
}

/** The queue of one market. */
export interface Lane {
  waiting: Waiting[];
  /**
   * Calls under way: at most one that took orders here, and one that goes apart, for an order that
   * climbed or on the rung `single`.
   */
  underWay: number;
  /** A call apart has gone before its orders: they go before the next one. */
  isOwed: boolean;
  /** Of its next call. */
  rung: Exclude<Rung, "single">;
  /** How many orders of a user left for calls of their own. What the user sent after them waits here. */
  climbing: Tally;
}

export const makeLane = (): Lane => ({
  ...{ waiting: [], underWay: 0, isOwed: false },
  ...{ rung: "shared", climbing: createTally() },
});

const isFree = ({ climbing }: Lane, { request }: Waiting) => climbing.of(request.userId) === 0;

/** The first order that a call of a lane may take. Looked for at each order that comes. */
export const firstFree = (lane: Lane): Waiting | undefined =>
  lane.waiting.find((order) => isFree(lane, order));

/** Whether a call may take an order that another one has not placed. */
export const isTried = (lane: Lane): boolean =>
  lane.waiting.some((order) => order.wasTried && isFree(lane, order));

/**
 * Takes the orders of a shared call out of some lanes: the first of each, then the second of each, so
 * that a long queue does not displace the short ones.
 */
export function takeTogether(lanes: Lane[], mostOrders: number): Waiting[] {
  const taken: Waiting[] = [];
  let queues = lanes.map((lane) => lane.waiting.filter((order) => isFree(lane, order)).values());
  while (queues.length > 0 && taken.length < mostOrders) {
    queues = queues.filter((queue) => {
      const { value: order } = queue.next();
      if (order === undefined || taken.length === mostOrders) return false;
      taken.push(order);
      return true;
    });
  }
  remove(lanes, taken);
  return taken;
}

/** Orders that are looked at for a call of one lane. */
const MOST_SEEN = 1000;

/** Of one order. */
const MOST_SHARES = 10_000;

/** The makers that an order meets at most: each share may be of another one, and costs a cent. */
const reachOf = ({ request }: Waiting) =>
  request.postOnly === true
    ? 1
    : (request.quantity ?? Math.min(request.budgetCents ?? MOST_SHARES, MOST_SHARES));

/** Whether an order may meet more than the first one of a call of its lane: it climbs. */
export const isDeep = (order: Waiting): boolean => reachOf(order) > LANE_MAKERS.ofFirst;

/**
 * Takes the orders of a call of one lane: the first one, and the smallest others. A deep first one
 * climbs, so the first one to send comes with it, and no other of its user. Orders of one user never
 * overtake each other.
 */
export function takeAlone(lane: Lane, mostOrders: number): Waiting[] {
  const free = lane.waiting.filter((order) => isFree(lane, order)).slice(0, MOST_SEEN);
  const [first] = free;
  if (first === undefined) return [];
  const taken = new Set([first, firstToSend(free) ?? first]);
  const passed = new Set(isDeep(first) ? [first.request.userId] : []);
  let left = LANE_MAKERS.ofOthers;
  for (const order of bySize(free.filter((order) => !taken.has(order)))) {
    const { userId } = order.request;
    const reach = reachOf(order);
    if (passed.has(userId)) continue;
    const fits = reach <= left && taken.size < mostOrders;
    if (!fits) {
      passed.add(userId);
      continue;
    }
    taken.add(order);
    left -= reach;
  }
  const all = lane.waiting.filter((order) => taken.has(order));
  remove([lane], all);
  return all;
}

/** The first that is not deep, nor behind a deep one of its user. */
function firstToSend(orders: Waiting[]): Waiting | undefined {
  const behind = new Set<string>();
  return orders.find((order) => {
    if (isDeep(order)) behind.add(order.request.userId);
    return !behind.has(order.request.userId);
  });
}

/** The smallest first, but none before an earlier one of its user. */
function bySize(orders: Waiting[]): Waiting[] {
  const largest = new Map<string, number>();
  const sized = orders.map((order) => {
    const { userId } = order.request;
    const size = Math.max(reachOf(order), largest.get(userId) ?? 0);
    largest.set(userId, size);
    return { order, size };
  });
  return sized.sort((one, other) => one.size - other.size).map(({ order }) => order);
}

function remove(lanes: Lane[], orders: Waiting[]): void {
  const removed = new Set(orders);
  for (const lane of lanes) lane.waiting = lane.waiting.filter((order) => !removed.has(order));
}

/** Orders that were not placed go behind the others, and so do later ones of their users. */
export function putBehind(lane: Lane, orders: Waiting[]): void {
  const users = new Set(orders.map(({ request }) => request.userId));
  const isOther = ({ request }: Waiting) => !users.has(request.userId);
  const own = lane.waiting.filter((order) => !isOther(order));
  lane.waiting = [...lane.waiting.filter(isOther), ...orders, ...own];
  for (const order of orders) order.wasTried = true;
}
