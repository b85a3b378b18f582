import type { OrderRequest } from "../database/calls.ts";
import type { Later } from "../later.ts";
import { chooseOrders } from "./choose_orders.ts";
import { createOrderCounts } from "./order_counts.ts";

/** An order that waits for a call. */
export interface Waiting<Result> {
  request: OrderRequest;
  /** When it came. */
  since: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** One market's queue. It exists while orders wait, a call is under way, or it goes alone. */
export interface Lane<Result> {
  marketId: string;
  waiting: Waiting<Result>[];
  isUnderWay: boolean;
  /** Until then it shares no call. */
  aloneUntil: number;
  /** It goes alone because a shared call failed or was slow. Its first quick call ends that. */
  isSuspect: boolean;
  /** Its last call took long for its work. The next one takes few orders. */
  isSlow: boolean;
}

export interface LanesOptions {
  /** Expected work of one call at most, in small orders; see choose_orders.ts. */
  mostWork: number;
  /** How long a market shares no call after it was slow or its lock was held elsewhere. */
  aloneForMs: number;
  now: () => number;
  later: Later;
  /** Called when orders are held back no longer. */
  onReady: () => void;
}

/** The queues of all markets. What is taken from a lane keeps it under way until {@link end}. */
export interface Lanes<Result> {
  add: (order: Waiting<Result>) => void;
  /** Puts orders to the front of their lanes, in their order. */
  putBack: (orders: Waiting<Result>[]) => void;
  /** Orders that wait, without those under way. */
  count: () => number;
  /** Those of one user. */
  countOf: (userId: string) => number;
  /** Whether at least so many orders wait for a shared call. */
  hasReady: (count: number) => boolean;
  /** When the order came that is first in the lane that has been ready longest. */
  readySince: () => number;
  /** The orders of the next shared call. */
  takeGathered: () => Waiting<Result>[];
  /** The lane that has waited longest to go alone; it is under way from then on. */
  nextAlone: () => Lane<Result> | undefined;
  takeAlone: (lane: Lane<Result>) => Waiting<Result>[];
  takeAll: (lane: Lane<Result>) => Waiting<Result>[];
  /** Everything that waits for a shared call. */
  takeReady: () => Waiting<Result>[];
  /** The lane goes alone for a while. */
  goAlone: (lane: Lane<Result>, because: "busy" | "slow" | "suspect") => void;
  /** No call takes orders of these orders' users in their markets for a moment. */
  pauseUsers: (orders: Waiting<Result>[]) => void;
  /** No call takes orders of these lanes for a moment. */
  pauseMarkets: (lanes: Iterable<Lane<Result>>) => void;
  /** Its call took no longer than it should. */
  noteQuick: (lane: Lane<Result>) => void;
  /**
   * This order is placed by itself. It counts as one that waits, and later ones of its user in its
   * market wait for it, until {@link letGo}.
   */
  hold: (order: Waiting<Result>) => void;
  letGo: (order: Waiting<Result>) => void;
  /** The lanes of these orders. */
  of: (orders: Waiting<Result>[]) => Set<Lane<Result>>;
  /** Their call is over. */
  end: (lanes: Iterable<Lane<Result>>) => void;
}

const freshLane = { isUnderWay: false, aloneUntil: 0, isSuspect: false, isSlow: false };

/** Most locks of users last for less. */
const PAUSE_MS = 20;

/** The lanes that may go, each in one set at most. */
function createReadyLanes<Result>(now: () => number, isHeld: (request: OrderRequest) => boolean) {
  type L = Lane<Result>;
  /** Lanes with waiting orders and no call under way, the longest ready first. */
  const toGather = new Set<L>();
  const toGoAlone = new Set<L>();
  /** Lanes in which all orders are held. */
  const parked = new Set<L>();

  function makeReady(lane: L): void {
    if (lane.isUnderWay || lane.waiting.length === 0) return;
    if (toGather.has(lane) || toGoAlone.has(lane)) return;
    parked.delete(lane);
    if (lane.waiting.every(({ request }) => isHeld(request))) parked.add(lane);
    else (now() < lane.aloneUntil ? toGoAlone : toGather).add(lane);
  }

  function start(lane: L): void {
    toGather.delete(lane);
    toGoAlone.delete(lane);
    lane.isUnderWay = true;
  }

  /** Some are held no longer. */
  function unpark(): void {
    for (const lane of [...parked]) makeReady(lane);
  }

  function hasOrders(count: number): boolean {
    let found = 0;
    for (const { waiting } of toGather) {
      found += waiting.length;
      if (found >= count) return true;
    }
    return false;
  }

  function since(): number {
    const [lane] = toGather;
    return lane?.waiting[0]?.since ?? now();
  }

  return { toGather, toGoAlone, makeReady, start, unpark, hasOrders, since };
}

/** The lanes by their markets. */
function createLaneTable<Result>(aloneForMs: number, now: () => number) {
  const lanes = new Map<string, Lane<Result>>();
  let sweptAt = now();

  function of(marketId: string): Lane<Result> {
    const known = lanes.get(marketId);
    if (known !== undefined) return known;
    const lane: Lane<Result> = { marketId, waiting: [], ...freshLane };
    lanes.set(marketId, lane);
    return lane;
  }

  /** Forgets the lanes of markets that have nothing to do and may share calls again. */
  function sweep(): void {
    if (now() - sweptAt < aloneForMs) return;
    sweptAt = now();
    for (const [marketId, { waiting, isUnderWay, aloneUntil }] of lanes) {
      if (waiting.length === 0 && !isUnderWay && aloneUntil <= sweptAt) lanes.delete(marketId);
    }
  }

  return { of, sweep };
}

/** Markets, and users in markets, whose orders wait: for one placed by itself, or for a moment. */
function createHeldOrders({ later }: LanesOptions, onLetGo: () => void) {
  const counts = createOrderCounts();
  const ofUser = ({ marketId, userId }: OrderRequest) => `${marketId} ${userId}`;

  const isHeld = (request: OrderRequest) =>
    counts.all() > 0 && counts.of(ofUser(request)) + counts.of(request.marketId) > 0;

  function letGo(names: string[]): void {
    names.forEach(counts.subtract);
    onLetGo();
  }

  function pause(names: string[]): void {
    if (names.length === 0) return;
    names.forEach(counts.add);
    later(() => {
      letGo(names);
    }, PAUSE_MS);
  }

  return {
    isHeld,
    hold: (request: OrderRequest) => {
      counts.add(ofUser(request));
    },
    letGo: (request: OrderRequest) => {
      letGo([ofUser(request)]);
    },
    pauseUsers: (orders: { request: OrderRequest }[]) => {
      pause(orders.map(({ request }) => ofUser(request)));
    },
    pauseMarkets: (lanes: Iterable<{ marketId: string }>) => {
      pause(Array.from(lanes, ({ marketId }) => marketId));
    },
  };
}

/** The lanes of one process. */
export function createLanes<Result>(options: LanesOptions): Lanes<Result> {
  const { mostWork, aloneForMs, now, onReady } = options;
  const table = createLaneTable<Result>(aloneForMs, now);
  const counts = createOrderCounts();
  const held = createHeldOrders(options, () => {
    ready.unpark();
    onReady();
  });
  const ready = createReadyLanes<Result>(now, held.isHeld);
  const { makeReady, start, toGather, toGoAlone } = ready;
  const laneOf = ({ request }: Waiting<Result>) => table.of(request.marketId);

  function take(queues: Waiting<Result>[][], isSlow = false): Waiting<Result>[] {
    const taken = chooseOrders(queues, { mostWork, isSlow, isHeld: held.isHeld });
    for (const { request } of taken) counts.subtract(request.userId);
    return taken;
  }

  function takeAll({ waiting }: Lane<Result>): Waiting<Result>[] {
    for (const { request } of waiting) counts.subtract(request.userId);
    return waiting.splice(0);
  }

  const of = (orders: Waiting<Result>[]) => new Set(orders.map(laneOf));

  return {
    add: (order) => {
      const lane = laneOf(order);
      lane.waiting.push(order);
      counts.add(order.request.userId);
      makeReady(lane);
    },
    putBack: (orders) => {
      for (const order of orders.toReversed()) {
        laneOf(order).waiting.unshift(order);
        counts.add(order.request.userId);
      }
    },
    count: counts.all,
    countOf: counts.of,
    hasReady: ready.hasOrders,
    readySince: ready.since,
    takeGathered: () => {
      const taken = take(Array.from(toGather, ({ waiting }) => waiting));
      of(taken).forEach(start);
      return taken;
    },
    nextAlone: () => {
      const [lane] = toGoAlone;
      if (lane !== undefined) start(lane);
      return lane;
    },
    takeAlone: (lane) => take([lane.waiting], lane.isSlow),
    takeAll,
    takeReady: () => {
      const all = [...toGather].flatMap(takeAll);
      toGather.clear();
      return all;
    },
    goAlone: (lane, because) => {
      lane.aloneUntil = now() + aloneForMs;
      lane.isSuspect = because === "suspect";
      if (because !== "busy") lane.isSlow = because === "slow";
    },
    pauseUsers: held.pauseUsers,
    pauseMarkets: held.pauseMarkets,
    noteQuick: (lane) => {
      lane.isSlow = false;
      if (lane.isSuspect) lane.aloneUntil = 0;
    },
    hold: (order) => {
      held.hold(order.request);
      counts.add(order.request.userId);
    },
    letGo: (order) => {
      counts.subtract(order.request.userId);
      held.letGo(order.request);
    },
    of,
    end: (ended) => {
      for (const lane of ended) {
        lane.isUnderWay = false;
        makeReady(lane);
      }
      table.sweep();
    },
  };
}
