import type { Pool } from "pg";
import { part } from "./ladder.ts";
import type { LimitKind } from "./ladder.ts";
import { createCallLimiter, REQUEST_PATIENCE_MS } from "../database/call_limiter.ts";
import type { CallLimiter, CallLimits } from "../database/call_limiter.ts";
import type { RetryOptions, Turn } from "../database/failures.ts";

/** How many connections of a pool the reads of users may hold at once. */

/** Half is left to the other reads, which are short. */
export function previewLimits(connections: number): CallLimits<"user" | "market"> {
  return { most: part(connections, 1 / 2), each: { user: 1, market: 1 } };
}

/** Half is left to other clients, and half to reads that are not long. */
function readLimits(connections: number): CallLimits<"client" | "long" | "one"> {
  const half = part(connections, 1 / 2);
  return { most: connections, each: { client: half, long: half, one: 1 } };
}

/** How the calls of one user take turns with those of others. */
export interface UserTurns {
  /** Of a cancel, a split or a merge, with its market if that is known. */
  command: (userId: string, marketId?: string) => RetryOptions;
  /** Of a cancel of all orders, which waits behind no other command of its user. */
  cancelAll: (userId: string) => RetryOptions;
  preview: (userId: string, marketId: string) => RetryOptions;
  /** Of a read of a client: a user, or the address of an unknown one. Of long ones, one at a time. */
  read: (client: string, isLong: boolean) => Turn;
}

/** Each of the standbys has as many connections for reads as the pool. */
export function createUserTurns(
  commands: CallLimiter<LimitKind>,
  reads: Pool,
  standbys = 0,
): UserTurns {
  const { max } = reads.options;
  const previews = createCallLimiter({ limits: previewLimits(max) });
  const readers = createCallLimiter({ limits: readLimits(max * (1 + standbys)) });
  const lockPatienceMs = REQUEST_PATIENCE_MS;
  return {
    command: (userId, market) => {
      const holds = { command: "", user: userId, ...(market !== undefined && { market }) };
      return { turn: commands.turn(`command ${userId}`, holds), lockPatienceMs };
    },
    cancelAll: (userId) => {
      const name = `cancel-all ${userId}`;
      return { turn: commands.turn(name, { command: "", one: name }), lockPatienceMs };
    },
    preview: (userId, marketId) => ({
      turn: previews.turn(userId, { user: userId, market: marketId }),
    }),
    read: (client, isLong) =>
      isLong
        ? readers.turn(`long ${client}`, { client, long: "", one: client })
        : readers.turn(client, { client }),
  };
}
