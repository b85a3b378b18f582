import type { CallLimits } from "../database/call_limiter.ts";

/**
 * Lower rungs serve many orders in a call. A `shared` one is of many lanes, and waits for no lock of a
 * market. On `alone` goes one lane, while orders wait there that a call has not placed. An order that
 * holds up its lane climbs: it leaves for calls of its own. Those go on `alone` as well, as do batches
 * and amendments, and on `single` if they meet more makers.
 */
export type LaneRung = "shared" | "alone";

/** Makers that the first order of a call of one lane may meet, and all others together. */
export const LANE_MAKERS = { ofFirst: 500, ofOthers: 250 };

/** Of one call the orders at most, and the resting orders that they may meet. */
export const ladder = {
  shared: { mostOrders: 200, mostMakers: 250 },
  alone: { mostOrders: 32, mostMakers: LANE_MAKERS.ofFirst + LANE_MAKERS.ofOthers },
};

/** An amendment goes alone if it can meet no more than this, since cancels wait for it. */
export const AMENDMENT_MAKERS = 50;

/**
 * What a call that waits for locks counts against: its rung, or `command` for a cancel, a split and a
 * merge; its users and its markets; and a name of which there is one call at a time.
 */
export type LimitKind = "alone" | "single" | "command" | "user" | "market" | "one";

/** The line of the calls of lanes on `alone`. They are for all users, other lines for one each. */
export const LANES = "lanes";

/**
 * How many calls that wait for locks go at once, of a pool with so many connections. There are no more
 * shared ones, so both leave some connections to each other. None holds one for a lock longer than
 * 50 ms (the lock timeout of the pool `orders`): what has to wait longer waits in the process.
 */
export function commandLimits(connections: number): CallLimits<LimitKind> {
  const quarter = Math.ceil(connections / 4);
  return {
    ...{ most: Math.max(1, connections - quarter), often: LANES },
    each: {
      ...{ alone: part(connections, 1 / 2), command: part(connections, 1 / 2) },
      single: Math.min(2, part(connections, 1 / 4)),
      ...{ user: quarter, market: quarter, one: 1 },
    },
  };
}

export const part = (connections: number, fraction: number): number =>
  Math.max(1, Math.floor(connections * fraction));
