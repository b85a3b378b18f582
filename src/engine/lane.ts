import type { OrderRequest, Payment, PlacedOrder } from "../database/calls.ts";
import { LANE_MAKERS } from "./ladder.ts";

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

/**
 * The orders of a shared call: the first of each queue, then the second of each, so that a long queue
 * does not displace the short ones.
 */
export function chooseTogether(queues: Waiting[][], mostOrders: number): Waiting[] {
  const chosen: Waiting[] = [];
  let longer = queues;
  for (let place = 0; longer.length > 0 && chosen.length < mostOrders; place++) {
    longer = longer.filter((queue) => queue.length > place);
    chosen.push(...longer.flatMap((queue) => queue[place] ?? []));
  }
  return chosen.slice(0, mostOrders);
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
 * The orders of a call of one lane: the first one, and the smallest others. A deep first one climbs, so
 * the first one to send comes with it: it is not deep, nor behind a deep one of its user. With a deep
 * one comes no other of its user: orders of one user never overtake each other.
 */
export function chooseAlone([queue = []]: Waiting[][], mostOrders: number): Waiting[] {
  const seen = queue.slice(0, MOST_SEEN);
  const [first] = seen;
  if (first === undefined) return [];
  const toSend = sizesOf(seen).find(({ size }) => size <= LANE_MAKERS.ofFirst)?.order ?? first;
  const chosen = new Set([first, toSend]);
  const passed = new Set(isDeep(first) ? [first.request.userId] : []);
  let left = LANE_MAKERS.ofOthers;
  const others = sizesOf(seen.filter((order) => !chosen.has(order)));
  for (const { order } of others.sort((one, other) => one.size - other.size)) {
    const { userId } = order.request;
    const fits = reachOf(order) <= left && chosen.size < mostOrders;
    if (fits && !passed.has(userId)) {
      chosen.add(order);
      left -= reachOf(order);
    } else passed.add(userId);
  }
  return seen.filter((order) => chosen.has(order));
}

/** Each with the largest reach of it and of earlier ones of its user: sorted by it, it is behind them. */
function sizesOf(orders: Waiting[]) {
  const largest = new Map<string, number>();
  return orders.map((order) => {
    const { userId } = order.request;
    const size = Math.max(reachOf(order), largest.get(userId) ?? 0);
    largest.set(userId, size);
    return { order, size };
  });
}

/** A queue in which these orders are behind those of other users, and before later ones of theirs. */
export function behindOthers(orders: Waiting[], queue: Waiting[]): Waiting[] {
  const users = new Set(orders.map(({ request }) => request.userId));
  const isTheirs = ({ request }: Waiting) => users.has(request.userId);
  const others = queue.filter((order) => !isTheirs(order));
  return [...others, ...orders, ...queue.filter(isTheirs)];
}
