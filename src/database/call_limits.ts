import type { Pool } from "pg";
import { createCallLimiter } from "./call_limiter.ts";
import type { CallLimiter, CallLimits, Holds } from "./call_limiter.ts";
import type { RetryOptions, Turn } from "./failures.ts";

/** How many connections of a pool slow calls may hold at once. */

/** What a call on the pool `orders` counts against if it waits for locks. */
export type CommandKind =
  /** Orders of one market, and batches that are placed by themselves. */
  | "alone"
  /** Cancels, amendments, splits and merges. */
  | "single"
  /** Amendments: a new order may meet others. */
  | "amendment"
  /** Amendments of a user. */
  | "amender"
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
  const quarter = Math.ceil(connections / 4);
  return {
    most: part(connections, 3 / 4),
    each: {
      alone: half,
      single: half,
      amendment: part(connections, 3 / 8),
      amender: 1,
      batch: 1,
      stop: 1,
      user: quarter,
      market: quarter,
    },
  };
}

/** What a call on the pool `patient` counts against. */
export type PatientKind =
  /** It may meet any number of makers. */
  "deep" | "user" | "market";

export type PatientLimiter = CallLimiter<PatientKind>;

/** Half is left to those that only wait for a lock. */
export function patientLimits(connections: number): CallLimits<PatientKind> {
  return { most: connections, each: { deep: part(connections, 1 / 2), user: 1, market: 1 } };
}

/** Where calls may take long. */
export interface Patience {
  pool: Pool;
  limiter: PatientLimiter;
}

/** On the connections of this pool. */
export function createPatience(pool: Pool): Patience {
  return { pool, limiter: createCallLimiter({ limits: patientLimits(pool.options.max) }) };
}

/** Half is left to the other reads, which are short. */
export function previewLimits(connections: number): CallLimits<"user" | "market"> {
  return { most: part(connections, 1 / 2), each: { user: 1, market: 1 } };
}

/** Half is left to other clients. */
export function readLimits(connections: number): CallLimits<"client"> {
  return { most: connections, each: { client: part(connections, 1 / 2) } };
}

/** How the calls of one user take turns with those of others. */
export interface UserTurns {
  /** Of a cancel, a split or a merge, with its market if that is known. */
  command: (userId: string, marketId?: string) => RetryOptions;
  amendment: (userId: string) => RetryOptions;
  /** Of an amendment on the pool `patient` that may meet any number of makers. */
  deepAmendment: (userId: string) => RetryOptions;
  /** Of a cancel of all orders, which waits behind no other command of its user. */
  cancelAll: (userId: string) => RetryOptions;
  preview: (userId: string, marketId: string) => RetryOptions;
  /** Of a read of a client: a user, or the address of somebody who is not known. */
  read: (client: string) => Turn;
}

export function createUserTurns(
  commands: CommandLimiter,
  { pool, limiter }: Patience,
  reads: Pool,
): UserTurns {
  const previews = createCallLimiter({ limits: previewLimits(reads.options.max) });
  const readers = createCallLimiter({ limits: readLimits(reads.options.max) });
  const quickly = (line: string, userId: string, holds: Holds<CommandKind>): RetryOptions => ({
    turn: commands.turn(line, holds),
    patiently: { pool, turn: limiter.turn(line, { user: userId }) },
  });
  return {
    command: (userId, marketId) =>
      quickly(`single ${userId}`, userId, {
        ...{ single: "", user: userId },
        ...(marketId !== undefined && { market: marketId }),
      }),
    amendment: (userId) =>
      quickly(`amendment ${userId}`, userId, {
        ...{ single: "", user: userId },
        ...{ amendment: "", amender: userId },
      }),
    deepAmendment: (userId) => ({
      turn: limiter.turn(`deep ${userId}`, { deep: "", user: userId }),
    }),
    cancelAll: (userId) => quickly(`cancel-all ${userId}`, userId, { single: "", stop: userId }),
    preview: (userId, marketId) => ({
      turn: previews.turn(userId, { user: userId, market: marketId }),
    }),
    read: (client) => readers.turn(client, { client }),
  };
}

function part(connections: number, fraction: number): number {
  return Math.max(1, Math.floor(connections * fraction));
}
