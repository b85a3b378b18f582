import type { CallLimits } from "../database/call_limiter.ts";

/**
 * Lower rungs serve many orders in a call. A lane whose call did not place all goes from `shared` to
 * `alone`, and back after a success. An order that holds up its lane climbs: it leaves for calls of its
 * own.
 */
type Rung = LaneRung | "single";

/** Of calls that take orders from lanes. */
export type LaneRung = "shared" | "alone";

/** Makers that the first order of a call of one lane may meet, and all others together. */
export const LANE_MAKERS = { ofFirst: 500, ofOthers: 250 };

/**
 * Of each rung the orders of one call at most, the resting orders that they may meet, and the calls
 * under way at once, of a pool with so many connections. No call holds a connection for a lock longer
 * than 50 ms (the lock timeout of the pool `orders`). One call at a time takes orders from a lane; what
 * waits there waits in the process.
 */
export const ladder = {
  /** Of many lanes. It waits for no lock of a market. */
  shared: {
    ...{ mostOrders: 200, mostMakers: 250 },
    atOnce: (connections) => Math.max(1, connections - reserve(connections)),
  },
  /** Of one lane, or a batch, an amendment or an order that climbed. */
  alone: {
    ...{ mostOrders: 32, mostMakers: LANE_MAKERS.ofFirst + LANE_MAKERS.ofOthers },
    atOnce: (connections) => part(connections, 1 / 2),
  },
  /** A batch, an amendment or an order that meets more makers than that. */
  single: { atOnce: (connections) => Math.min(2, part(connections, 1 / 4)) },
} satisfies Record<Rung, { atOnce: (connections: number) => number }>;

/** An amendment goes alone if it can meet no more than this, since cancels wait for it. */
export const AMENDMENT_MAKERS = 50;

/** Shared calls and those that wait for locks leave so many connections to each other. */
const reserve = (connections: number): number => Math.ceil(connections / 4);

/**
 * What a call that waits for locks counts against: its rung, or `command` for a cancel, a split and a
 * merge; its users and its markets; and a name of which there is one call at a time.
 */
export type LimitKind = "alone" | "single" | "command" | "user" | "market" | "one";

/** The line of the calls of lanes on `alone`. They are for all users, other lines for one each. */
export const LANES = "lanes";

export function commandLimits(connections: number): CallLimits<LimitKind> {
  const quarter = reserve(connections);
  return {
    ...{ most: ladder.shared.atOnce(connections), often: LANES },
    each: {
      alone: ladder.alone.atOnce(connections),
      single: ladder.single.atOnce(connections),
      command: part(connections, 1 / 2),
      ...{ user: quarter, market: quarter, one: 1 },
    },
  };
}

export function part(connections: number, fraction: number): number {
  return Math.max(1, Math.floor(connections * fraction));
}
