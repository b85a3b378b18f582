import { ladder } from "./ladder.ts";
import type { LaneRung } from "./ladder.ts";
import { behindOthers, chooseAlone, chooseTogether } from "./lane.ts";
import type { Waiting } from "./lane.ts";
import { createTally } from "../tally.ts";
import type { Tally } from "../tally.ts";

/** The queue of one market. */
export interface Lane {
  marketId: string;
  waiting: Waiting[];
  /** Calls under way: at most one that took orders here, and one that goes apart. */
  underWay: number;
  /** A call apart has gone before its orders: they go before the next one. */
  goesFirst: boolean;
  /** How many orders of a user left for calls of their own. What the user sent after them waits here. */
  climbing: Tally;
}

function makeLane(marketId: string): Lane {
  return { marketId, waiting: [], underWay: 0, goesFirst: false, climbing: createTally() };
}

/** The lanes of one process. Those of orders that a call took are under way until `end`. */
export interface Lanes {
  add: (order: Waiting) => void;
  /** Those with orders for a call and none under way. The longest ready come first. */
  ready: (rung: LaneRung) => Lane[];
  /** Takes the orders of a call: of all these lanes, or on `alone` of the first. */
  take: (rung: LaneRung) => Waiting[];
  /** All orders there. */
  takeAll: (rung: LaneRung) => Waiting[];
  /**
   * Orders that were not placed go behind the others, and so do later ones of their users. Their lanes
   * go alone while one of them waits there.
   */
  putBehind: (orders: Waiting[]) => void;
  /** The call of these orders is over. */
  end: (orders: Waiting[]) => void;
  /** Whether orders of their lanes climb. */
  areClimbing: (orders: Waiting[]) => boolean;
  /** Makes a call apart. Until it is over, the lanes of its markets begin none. */
  blockDuring: <T>(marketIds: string[], call: () => Promise<T>) => Promise<T>;
  /** Whether orders of one of these markets go before its next call apart. */
  goFirst: (marketIds: string[]) => boolean;
  /** An order climbs. Until it is placed, what its user sends to its lane waits. */
  holdDuring: (order: Waiting, placing: () => Promise<void>) => Promise<void>;
}

const choose = { shared: chooseTogether, alone: chooseAlone };

/** The orders that a call may take. */
export const freeIn = ({ climbing, waiting }: Lane): Waiting[] =>
  waiting.filter(({ request }) => climbing.of(request.userId) === 0);

/** `onChange` is called when a lane may have orders for a call. */
export function createLanes(onChange: () => void): Lanes {
  /** Those that have something to do. */
  const lanes = new Map<string, Lane>();
  /** The rungs of those that are ready. */
  const rungs = new Map<Lane, LaneRung>();

  function laneIn(marketId: string): Lane {
    const lane = lanes.get(marketId) ?? makeLane(marketId);
    lanes.set(marketId, lane);
    return lane;
  }

  const laneOf = ({ request }: Waiting) => laneIn(request.marketId);
  const lanesOf = (orders: Waiting[]) => [...new Set(orders.map(laneOf))];
  const ready = (rung: LaneRung) => [...rungs.keys()].filter((lane) => rungs.get(lane) === rung);
  /** The lanes of the next call. Those with calls of their own take turns. */
  const next = (rung: LaneRung) => ready(rung).slice(0, rung === "alone" ? 1 : Infinity);

  function update(lane: Lane): void {
    rungs.delete(lane);
    if (lane.underWay === 0) {
      const free = freeIn(lane);
      const isTried = free.some(({ wasTried }) => wasTried);
      if (free.length > 0) rungs.set(lane, isTried ? "alone" : "shared");
      else if (lane.waiting.length === 0 && lane.climbing.isEmpty()) lanes.delete(lane.marketId);
    }
    onChange();
  }

  function start(lane: Lane): void {
    rungs.delete(lane);
    lane.underWay++;
    lane.goesFirst = false;
  }

  function end(lane: Lane): void {
    lane.underWay--;
    update(lane);
  }

  return {
    ready,
    add: (order) => {
      const lane = laneOf(order);
      lane.waiting.push(order);
      if (rungs.has(lane)) onChange();
      else update(lane);
    },
    take: (rung) => {
      const orders = choose[rung](next(rung).map(freeIn), ladder[rung].mostOrders);
      const taken = new Set(orders);
      for (const lane of lanesOf(orders)) {
        lane.waiting = lane.waiting.filter((order) => !taken.has(order));
        start(lane);
      }
      return orders;
    },
    takeAll: (rung) =>
      next(rung).flatMap((lane) => {
        const orders = lane.waiting.splice(0);
        update(lane);
        return orders;
      }),
    putBehind: (orders) => {
      for (const order of orders) order.wasTried = true;
      for (const lane of lanesOf(orders)) {
        const own = orders.filter((order) => laneOf(order) === lane);
        lane.waiting = behindOthers(own, lane.waiting);
      }
    },
    end: (orders) => {
      lanesOf(orders).forEach(end);
    },
    areClimbing: (orders) => lanesOf(orders).some(({ climbing }) => !climbing.isEmpty()),
    blockDuring: async (marketIds, call) => {
      const blocked = marketIds.map(laneIn);
      for (const lane of blocked) {
        start(lane);
        lane.goesFirst = true;
      }
      try {
        return await call();
      } finally {
        blocked.forEach(end);
      }
    },
    goFirst: (marketIds) =>
      marketIds
        .map((marketId) => lanes.get(marketId))
        .some((lane) => lane?.goesFirst === true && rungs.has(lane)),
    holdDuring: async (order, placing) => {
      const lane = laneOf(order);
      lane.climbing.add(order.request.userId, 1);
      await placing();
      lane.climbing.add(order.request.userId, -1);
      update(lane);
    },
  };
}
