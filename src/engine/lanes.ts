import { ladder } from "./ladder.ts";
import type { Rung } from "./ladder.ts";
import { chooseAlone, chooseTogether } from "./lane.ts";
import type { Waiting } from "./lane.ts";
import { createTally } from "../tally.ts";
import type { Tally } from "../tally.ts";

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

const makeLane = (): Lane => ({
  ...{ waiting: [], underWay: 0, isOwed: false },
  ...{ rung: "shared", climbing: createTally() },
});

const isFree = ({ climbing }: Lane, { request }: Waiting) => climbing.of(request.userId) === 0;

/** The orders that a call may take. */
const freeIn = (lane: Lane) => lane.waiting.filter((order) => isFree(lane, order));

/** The first of them. Looked for at each order that comes. */
const firstFree = (lane: Lane) => lane.waiting.find((order) => isFree(lane, order));

/** Whether a call may take an order that another one has not placed. */
const isTried = (lane: Lane) => lane.waiting.some((order) => order.wasTried && isFree(lane, order));

/** The lanes of one process. A lane from which a call takes orders is under way until `end`. */
export interface Lanes {
  add: (order: Waiting) => void;
  /** How many orders wait for a shared call, and when the first of them came: Infinity for none. */
  shared: () => { count: number; since: number };
  takeShared: () => Waiting[];
  /** The next lane that has a call of its own to make. The lanes take turns. */
  findAlone: () => Lane | undefined;
  start: (lane: Lane) => void;
  take: (lane: Lane) => Waiting[];
  /** All of a lane, or all that wait for a shared call. */
  takeAll: (lane: Lane | undefined) => Waiting[];
  /** Orders that were not placed go behind the others, and so do later ones of their users. */
  putBehind: (orders: Waiting[]) => void;
  of: (orders: Waiting[]) => Set<Lane>;
  /** Their call is over. Those that failed go alone next. */
  end: (lanes: Set<Lane>, failed: Set<Lane>) => void;
  /** A call apart is under way: until `unblock` the lanes of its markets begin none. */
  block: (marketIds: string[]) => void;
  unblock: (marketIds: string[]) => void;
  /** Whether orders of a market go before its next call apart. */
  owes: (marketIds: string[]) => boolean;
  /** An order climbs: what its user sends to its lane waits until `unhold`. */
  hold: (order: Waiting) => void;
  unhold: (order: Waiting) => void;
}

const SWEEP_MS = 1000;

/** Lanes by market, and which of them have orders for a call. */
function createLaneMap(now: () => number) {
  const lanes = new Map<string, Lane>();
  /** Lanes with orders for a call, and none under way, by its rung. The longest ready come first. */
  const ready = { shared: new Set<Lane>(), alone: new Set<Lane>() };
  let sweptAt = now();

  function laneIn(marketId: string): Lane {
    const lane = lanes.get(marketId) ?? makeLane();
    lanes.set(marketId, lane);
    return lane;
  }

  const isReady = (lane: Lane) => ready[lane.rung].has(lane);

  function makeReady(lane: Lane): void {
    ready.shared.delete(lane);
    ready.alone.delete(lane);
    if (firstFree(lane) !== undefined && lane.underWay === 0) ready[lane.rung].add(lane);
  }

  function start(lane: Lane): void {
    ready[lane.rung].delete(lane);
    lane.underWay++;
    lane.isOwed = false;
  }

  /** Forgets the lanes of markets that have nothing to do. */
  function sweep(): void {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    for (const [marketId, { climbing, underWay, waiting }] of lanes) {
      if (waiting.length === 0 && climbing.isEmpty() && underWay === 0) lanes.delete(marketId);
    }
  }

  return { isReady, laneIn, makeReady, ready, start, sweep };
}

export function createLanes(now: () => number): Lanes {
  const { isReady, laneIn, makeReady, ready, start, sweep } = createLaneMap(now);
  const laneOf = ({ request }: Waiting) => laneIn(request.marketId);
  const of = (orders: Waiting[]) => new Set(orders.map(laneOf));

  function take(orders: Waiting[]): Waiting[] {
    const taken = new Set(orders);
    for (const lane of of(orders)) lane.waiting = lane.waiting.filter((order) => !taken.has(order));
    return orders;
  }

  return {
    ...{ of, start },
    add: (order) => {
      const lane = laneOf(order);
      lane.waiting.push(order);
      if (!isReady(lane)) makeReady(lane);
    },
    shared: () => {
      const found = { count: 0, since: Infinity };
      for (const lane of ready.shared) {
        found.count += lane.waiting.length;
        found.since = Math.min(found.since, firstFree(lane)?.since ?? Infinity);
      }
      return found;
    },
    takeShared: () => {
      const orders = take(chooseTogether([...ready.shared].map(freeIn), ladder.shared.mostOrders));
      of(orders).forEach(start);
      return orders;
    },
    findAlone: () => [...ready.alone][0],
    take: (lane) => take(chooseAlone(freeIn(lane), ladder.alone.mostOrders)),
    takeAll: (lane) => {
      const all = lane === undefined ? [...ready.shared] : [lane];
      return all.flatMap((each) => {
        const orders = each.waiting.splice(0);
        makeReady(each);
        return orders;
      });
    },
    putBehind: (orders) => {
      for (const order of orders) order.wasTried = true;
      for (const lane of of(orders)) {
        const own = orders.filter((order) => laneOf(order) === lane);
        const users = new Set(own.map(({ request }) => request.userId));
        const [others = [], later = []] = [false, true].map((isTheirs) =>
          lane.waiting.filter(({ request }) => users.has(request.userId) === isTheirs),
        );
        lane.waiting = [...others, ...own, ...later];
      }
    },
    end: (ended, failed) => {
      for (const lane of ended) {
        lane.underWay--;
        lane.rung = failed.has(lane) || isTried(lane) ? "alone" : "shared";
        makeReady(lane);
      }
      sweep();
    },
    block: (marketIds) => {
      marketIds.map(laneIn).forEach(start);
    },
    unblock: (marketIds) => {
      for (const lane of marketIds.map(laneIn)) {
        lane.underWay--;
        lane.isOwed = true;
        makeReady(lane);
      }
    },
    owes: (marketIds) => marketIds.map(laneIn).some((lane) => lane.isOwed && isReady(lane)),
    hold: (order) => {
      laneOf(order).climbing.add(order.request.userId, 1);
    },
    unhold: (order) => {
      const lane = laneOf(order);
      lane.climbing.add(order.request.userId, -1);
      if (isTried(lane)) lane.rung = "alone";
      makeReady(lane);
    },
  };
}
