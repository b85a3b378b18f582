import type { Later } from "../later.ts";
import { chooseOrders } from "./choose_orders.ts";
import { rungOf } from "./ladder.ts";
import type { Rung } from "./ladder.ts";
import { isReady, makeLane, nextReadyAt, putBehind, takeOrders } from "./lane.ts";
import type { Lane, Waiting } from "./lane.ts";
import type { OrderCounts } from "./order_counts.ts";
import type { Walks } from "./walks.ts";

/** The lanes of one process. What is taken from a lane keeps it under way until `end`. */
export interface Lanes {
  add: (order: Waiting) => void;
  /** How many orders wait for a shared call, and when the first of them came: Infinity for none. */
  shared: () => { count: number; since: number };
  takeShared: () => Waiting[];
  /** The next lane with orders for a call of this rung. The lanes take turns. */
  find: (rung: Rung) => Lane | undefined;
  start: (lane: Lane) => void;
  take: (lane: Lane, rung: Rung) => Waiting[];
  /** All of a lane, or all that wait for a shared call. */
  takeAll: (lane: Lane | undefined) => Waiting[];
  /** What has waited for too long in lanes that go alone. */
  takeLate: () => Waiting[];
  /** Orders that are to be placed again. */
  putBehind: (orders: Waiting[]) => void;
  of: (orders: Waiting[]) => Set<Lane>;
  /** Their call is over. A success steps down. */
  end: (lanes: Set<Lane>, failed: Set<Lane>) => void;
}

export interface LanesOptions {
  mostWork: number;
  /** Orders that wait in lanes are counted here, those under way are not. */
  counts: OrderCounts;
  walks: Walks;
  now: () => number;
  later: Later;
  /** Called when orders have paused enough. */
  onReady: () => void;
}

const SWEEP_MS = 1000;

/** Which lanes have orders for a call. */
function createReadyLanes(now: () => number, later: Later, onReady: () => void) {
  /** With orders for a shared call and no call under way, the longest ready first. */
  const toShare = new Set<Lane>();
  /** Those on higher rungs that have orders, also while a call is under way. */
  const climbed = new Set<Lane>();

  /** Of a lane that pauses, only the orders that came need a look. */
  function makeReady(lane: Lane, came = lane.waiting): void {
    toShare.delete(lane);
    if (lane.waiting.length === 0 || lane.rung === "shared") climbed.delete(lane);
    else climbed.add(lane);
    if (lane.waiting.length === 0 || lane.isUnderWay) return;
    if (lane.rung === "shared") toShare.add(lane);
    else wakeLater(lane, came);
  }

  function wakeLater(lane: Lane, came: Waiting[]): void {
    const at = nextReadyAt(lane, came, now());
    if (at >= lane.wakesAt) return;
    lane.wakesAt = at;
    const wake = (): void => {
      lane.wakesAt = Infinity;
      makeReady(lane);
      onReady();
    };
    later(wake, at - now());
  }

  function start(lane: Lane): void {
    toShare.delete(lane);
    lane.isUnderWay = true;
    // Its next turn comes after those of the others.
    if (climbed.delete(lane)) climbed.add(lane);
  }

  function shared(): { count: number; since: number } {
    const found = { count: 0, since: Infinity };
    for (const { waiting } of toShare) {
      found.count += waiting.length;
      found.since = Math.min(found.since, waiting[0]?.since ?? Infinity);
    }
    return found;
  }

  return { climbed, makeReady, shared, start, toShare };
}

export function createLanes(options: LanesOptions): Lanes {
  const { mostWork, counts, walks, now, later, onReady } = options;
  const lanes = new Map<string, Lane>();
  const ready = createReadyLanes(now, later, onReady);
  const { climbed, makeReady, shared, start, toShare } = ready;
  let sweptAt = now();

  function laneOf({ request: { marketId } }: Waiting): Lane {
    const lane = lanes.get(marketId) ?? makeLane(walks);
    lanes.set(marketId, lane);
    return lane;
  }

  const of = (orders: Waiting[]) => new Set(orders.map(laneOf));

  function counted(orders: Waiting[], by: 1 | -1): Waiting[] {
    counts.change(
      orders.map(({ request }) => request.userId),
      by,
    );
    return orders;
  }

  /** Forgets the lanes of markets that have nothing to do. */
  function sweep(): void {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    for (const [marketId, { isUnderWay, waiting }] of lanes) {
      if (waiting.length === 0 && !isUnderWay) lanes.delete(marketId);
    }
  }

  return {
    ...{ of, start, shared },
    add: (order) => {
      const lane = laneOf(order);
      const { marketId, userId } = order.request;
      const rung = rungOf(order.request);
      if (rung === "single" && walks.hasWalked(marketId, userId)) {
        Object.assign(order, { rung, tries: 1 });
        lane.rung = "alone";
      }
      lane.waiting.push(order);
      counted([order], 1);
      if (!toShare.has(lane) || lane.rung !== "shared") makeReady(lane, [order]);
    },
    takeShared: () => {
      const queues = Array.from(toShare, ({ waiting }) => waiting);
      const orders = counted(chooseOrders(queues, { mostWork }), -1);
      of(orders).forEach(start);
      return orders;
    },
    find: (rung) => [...climbed].find((lane) => isReady(lane, rung, now())),
    take: (lane, rung) => counted(takeOrders(lane, rung, now()), -1),
    takeAll: (lane) => {
      const queues = lane === undefined ? [...toShare] : [lane];
      if (lane === undefined) toShare.clear();
      return counted(
        queues.flatMap(({ waiting }) => waiting.splice(0)),
        -1,
      );
    },
    takeLate: () => {
      const at = now();
      const isLate = ({ until }: Waiting) => until <= at;
      const late = [...climbed].flatMap(({ waiting }) => waiting.filter(isLate));
      for (const lane of of(late)) {
        lane.waiting = lane.waiting.filter((order) => !isLate(order));
        makeReady(lane);
      }
      return counted(late, -1);
    },
    putBehind: (orders) => {
      for (const lane of of(orders)) {
        const own = orders.filter((order) => laneOf(order) === lane);
        putBehind(lane, counted(own, 1), now());
      }
    },
    end: (ended, failed) => {
      for (const lane of ended) {
        lane.isUnderWay = false;
        const stepsDown = !failed.has(lane) && lane.waiting.every(({ rung }) => rung === "shared");
        lane.rung = stepsDown ? "shared" : "alone";
        makeReady(lane);
      }
      sweep();
    },
  };
}
