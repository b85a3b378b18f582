import type { Logger } from "pino";
import type { JobCalls, NextDue } from "../database/calls.ts";
import type { DueWork } from "./due_markets.ts";

/** What a job has to work with. */
export interface JobContext {
  logger: Logger;
  /** Each call has a connection of its own, and is made again after conflicts. */
  calls: JobCalls;
  /** Makes one call that does a piece of work and says how much that was, if anything was free. */
  doPiece: <Count extends number | null>(
    piece: (calls: JobCalls) => Promise<Count>,
  ) => Promise<Count>;
  /** Does all that is due of a kind in markets that are free; soon comes back for the others. */
  doWhatIsDue: (work: DueWork) => Promise<void>;
  /** When something is due in markets that nobody was found to hold a moment ago. */
  nextDue: () => Promise<NextDue>;
  /** Makes calls that each do one piece and say how much that was, until one did nothing. */
  untilNothingIsLeft: (piece: (calls: JobCalls) => Promise<number>) => Promise<void>;
  /** True once the process is ending: a job that is not done leaves the rest to others. */
  isEnding: () => boolean;
}

/**
 * Something to do now and then. What there is to do is found in the tables each time, so that a
 * job that is called too often, twice at once, or never finished does no harm.
 */
export type Job = {
  /** `<noun>__<verb>`, in the queue, in the log and in `/readyz`. */
  name: string;
  run: (context: JobContext) => Promise<void>;
} & When;

/** Calls a function until it finds nothing left to do. */
export const untilDone =
  (piece: (calls: JobCalls) => Promise<number>): Job["run"] =>
  ({ untilNothingIsLeft }) =>
    untilNothingIsLeft(piece);

/** Does what is due of a kind, in two markets at a time. */
export const inDueMarkets =
  (
    listDue: "dueExpiries" | "dueClosings",
    doInMarket: Exclude<DueWork["doInMarket"], "releaseOrders">,
  ): Job["run"] =>
  ({ doWhatIsDue }) =>
    doWhatIsDue({
      listDue: async (calls, passingOver) =>
        (await calls[listDue]({ passingOver })).map((market) => [market]),
      doInMarket,
      lanes: 2,
      waitingLanes: 1,
    });

/** What the tables know the next time of. */
export type DueKind = "release" | "expire" | "close" | "mail";

/** When a job runs: at times, like a line of a crontab, or whenever something is due. */
export type When = { cron: string } | { due: DueKind };
