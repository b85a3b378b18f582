import type { OrderRequest, Payment, PlacedOrder } from "../database/calls.ts";
import { lockPauseMs } from "../database/failures.ts";
import { chooseOrders, freeOrders } from "./choose_orders.ts";
import { ladder } from "./ladder.ts";
import type { Rung } from "./ladder.ts";
import type { SingleCall, Walks } from "./walks.ts";

/** The token of a request that is not counted yet: see http/access.ts. It is taken once. */
export interface Token {
  /** Takes it in a call of its own, unless it is taken. Fails if there is none. */
  take: () => Promise<void>;
  /** The call of the order has taken it, or has found none. Then this fails. */
  taken: (payment: Payment) => void;
}

/** An order that waits for a call. Times are in milliseconds, by a clock that never goes back. */
export interface Waiting {
  request: OrderRequest;
  /** When it came, and until when it is placed again if it is told AGAIN. */
  since: number;
  until: number;
  resolve: (result: PlacedOrder) => void;
  reject: (error: unknown) => void;
  /** It is not counted yet: its call takes this token. */
  token: Token | undefined;
  /** The lowest rung whose calls may take it. */
  rung: Rung;
  /** How often a call did not place it. It pauses until `readyAt`. */
  tries: number;
  readyAt: number;
}

/** The queue of one market. It has one call under way at most. */
export interface Lane {
  waiting: Waiting[];
  isUnderWay: boolean;
  /** The lowest rung of its calls. */
  rung: "shared" | "alone";
  /** Its last call took long for its work. The next one takes one order of each user. */
  isSlow: boolean;
  /** Those of all lanes: single calls wait until the market has rested. */
  walks: Walks;
  /** When it is looked at again because an order has paused enough. Infinity: no order pauses. */
  wakesAt: number;
}

export const makeLane = (walks: Walks): Lane => ({
  ...{ waiting: [], isUnderWay: false, rung: "shared", isSlow: false },
  ...{ walks, wakesAt: Infinity },
});

export const singleCallOf = ({ marketId, userId }: OrderRequest): SingleCall => ({
  ...{ marketIds: [marketId], userIds: [userId] },
});

/** When a call may take an order. One whose time is over is taken, and answered. */
function readyAt({ walks }: Lane, order: Waiting, at: number): number {
  if (order.rung !== "single" || order.tries === 0) return order.readyAt;
  const restedAt = at + walks.restMs(singleCallOf(order.request));
  return Math.min(Math.max(order.readyAt, restedAt), order.until);
}

/** When the next of these orders that pause is ready. */
export function nextReadyAt(lane: Lane, orders: Waiting[], at: number): number {
  const times = orders.map((order) => readyAt(lane, order, at));
  return Math.min(...times.filter((time) => time > at));
}

const isHeld = (lane: Lane, rung: Rung, at: number) => (order: Waiting) =>
  readyAt(lane, order, at) > at || (rung === "alone" && order.rung === "single");

/** Its orders for a call of this rung. */
export function takeOrders(lane: Lane, rung: Rung, at: number): Waiting[] {
  const { mostOrders, mostWork } = ladder[rung];
  const bounds = { mostWork, mostOrders, onePerUser: lane.isSlow, isHeld: isHeld(lane, rung, at) };
  return chooseOrders([lane.waiting], bounds);
}

/** Whether a call of this rung would take orders. A single one must be the first that is ready. */
export function isReady(lane: Lane, rung: Rung, at: number): boolean {
  if (lane.isUnderWay) return false;
  const { value: first } = freeOrders(lane.waiting, isHeld(lane, rung, at)).next();
  return first !== undefined && (rung !== "single" || first.rung === "single");
}

/** These are placed again: they pause, behind the others, and so do later ones of their users. */
export function putBehind(lane: Lane, orders: Waiting[], at: number): void {
  const users = new Set(orders.map(({ request }) => request.userId));
  const isOther = ({ request }: Waiting) => !users.has(request.userId);
  const others = lane.waiting.filter(isOther);
  lane.waiting = [...others, ...orders, ...lane.waiting.filter((order) => !isOther(order))];
  for (const order of orders) {
    order.readyAt = at + lockPauseMs(order.tries);
    order.tries++;
  }
}
