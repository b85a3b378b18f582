import type { Logger } from "pino";
import type { JobCalls, NextWork } from "../database/job_calls.ts";
import type { DueWork } from "./due_markets.ts";

/** What a job can use. */
export interface JobContext {
  logger: Logger;
  /** Each call has a connection of its own, and is repeated after conflicts. */
  calls: JobCalls;
  /** Makes one call that does a piece of work. Returns how much that was, null if it was locked. */
  doPiece: <Count extends number | null>(
    piece: (calls: JobCalls) => Promise<Count>,
  ) => Promise<Count>;
  /** Does what is due of a kind in free markets, and tries the others again soon. */
  doWhatIsDue: (work: DueWork) => Promise<void>;
  /** When something is due, except in markets that were found locked a moment ago. */
  nextWork: () => Promise<NextWork>;
  /** Makes calls that each do one piece, until one returns 0. */
  untilNothingIsLeft: (piece: (calls: JobCalls) => Promise<number>) => Promise<void>;
  /** True once the process is ending. Other workers do the rest. */
  isEnding: () => boolean;
}

/**
 * A scheduled task. Each run finds its work in the tables, so a job that runs too often, twice at
 * once, or is cut off does no harm.
 */
export type Job = {
  /** `<noun>__<verb>`, in the queue, in the log and in `/readyz`. */
  name: string;
  run: (context: JobContext) => Promise<void>;
} & When;

/** Calls a function until it returns 0. */
export const untilDone =
  (piece: (calls: JobCalls) => Promise<number>): Job["run"] =>
  ({ untilNothingIsLeft }) =>
    untilNothingIsLeft(piece);

/** Does what is due of a kind, in two markets at a time. */
export const inDueMarkets =
  (
    listDue: "dueExpiries" | "dueClosings" | "dueOpenings",
    doInMarket: "expireOrders" | "closeMarkets" | "openMarkets",
  ): Job["run"] =>
  ({ doWhatIsDue }) =>
    doWhatIsDue({
      listDue: async (calls, passingOver) =>
        (await calls[listDue]({ passingOver })).map((market) => [market]),
      doInMarket: (calls, marketId, waits, options) =>
        calls[doInMarket]({ marketId, waits }, options),
      lanes: 2,
      waitingLanes: 1,
    });

/** Kinds of work whose next time is in the tables. */
export type DueKind = "release" | "expire" | "close" | "open" | "mail" | "deadMan";

/** When a job runs: at the times of a crontab line, every so many seconds, or when something is due. */
export type When = { cron: string } | { everySeconds: number } | { due: DueKind };

/** A job waits for work that is nearer than this. A new job would start later. */
const NEAR_MS = 250;
/** What is added later may be due earlier than what was read. */
const LOOK_AGAIN_MS = 20;

/** How long a job waits before it looks again. Undefined: nothing is due soon, and it ends. */
export function waitIfNear(inMs: number | null): number | undefined {
  if (inMs === null || inMs > NEAR_MS) return undefined;
  return Math.min(Math.max(1, Math.ceil(inMs)), LOOK_AGAIN_MS);
}
