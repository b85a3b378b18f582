import type { Pool } from "pg";
import { createCallLimiter } from "./call_limiter.ts";
import type { CallLimiter, CallLimits } from "./call_limiter.ts";
import type { Turn } from "./failures.ts";

/** How many connections of a pool slow calls may hold at once. */

/** What a call on the pool `orders` counts against if it waits for locks. */
export type CommandKind =
  /** Orders of one market, orders that are placed by themselves, batches that are. */
  | "alone"
  /** What may meet any number of makers: some of these, and amendments. */
  | "deep"
  /** Cancels, amendments, splits and merges. */
  | "single"
  /** Atomic batches of a user. */
  | "batch"
  /** Cancels of all orders of a user, and the dead man's switch. */
  | "stop"
  | "user"
  | "market";

export type CommandLimiter = CallLimiter<CommandKind>;

/** A quarter is left to the shared calls, which wait for no lock. */
export function commandLimits(connections: number): CallLimits<CommandKind> {
  const half = part(connections, 1 / 2);
  const quarter = part(connections, 1 / 4);
  return {
    most: part(connections, 3 / 4),
    each: {
      alone: half,
      deep: quarter,
      single: half,
      batch: 1,
      stop: 1,
      user: quarter,
      market: quarter,
    },
  };
}

/** Half is left to the other reads, which are short. */
export function previewLimits(connections: number): CallLimits<"user" | "market"> {
  return { most: part(connections, 1 / 2), each: { user: 1, market: 1 } };
}

/** One is left to the counting of requests, which makes one call at a time. */
export function lookUpLimits(connections: number): CallLimits<never> {
  return { most: Math.max(1, connections - 1), each: {} };
}

/** The turns of one user's calls. */
export interface UserTurns {
  /** Of a cancel, an amendment, a split or a merge, with its market if that is known. */
  command: (userId: string, marketId?: string) => Turn;
  /** Of an amendment that may meet any number of makers. */
  deep: (userId: string) => Turn;
  /** Of a cancel of all orders, which waits behind no other command of its user. */
  cancelAll: (userId: string) => Turn;
  preview: (userId: string, marketId: string) => Turn;
}

export function createUserTurns(commands: CommandLimiter, reads: Pool): UserTurns {
  const previews = createCallLimiter({ limits: previewLimits(reads.options.max) });
  return {
    command: (userId, marketId) =>
      commands.turn(`single ${userId}`, {
        single: "",
        user: userId,
        ...(marketId !== undefined && { market: marketId }),
      }),
    deep: (userId) => commands.turn(`deep ${userId}`, { alone: "", deep: "", user: userId }),
    cancelAll: (userId) => commands.turn(`cancel-all ${userId}`, { single: "", stop: userId }),
    preview: (userId, marketId) => previews.turn(userId, { user: userId, market: marketId }),
  };
}

function part(connections: number, fraction: number): number {
  return Math.max(1, Math.floor(connections * fraction));
}
