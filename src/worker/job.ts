import type { PoolClient } from "pg";
import type { Logger } from "pino";
import type { NextDue } from "../database/jobs.ts";
import type { DueWork } from "./due_markets.ts";

/** What a job has to work with. */
export interface JobContext {
  logger: Logger;
  /** Makes one call, on a connection of its own, and again after conflicts. */
  call: <T>(call: (client: PoolClient) => Promise<T>) => Promise<T>;
  /** Makes one call that does a piece of work and says how much that was, if anything was free. */
  doPiece: <Count extends number | undefined>(
    piece: (client: PoolClient) => Promise<Count>,
  ) => Promise<Count>;
  /** Does all that is due of a kind in markets that are free; soon comes back for the others. */
  doWhatIsDue: (work: DueWork) => Promise<void>;
  /** When something is due in markets that nobody was found to hold a moment ago. */
  nextDue: () => Promise<NextDue>;
  /** Makes calls that each do one piece and say how much that was, until one did nothing. */
  untilNothingIsLeft: (piece: (client: PoolClient) => Promise<number>) => Promise<void>;
  /** True once the process is ending: a job that is not done leaves the rest to others. */
  isEnding: () => boolean;
}

/**
 * Something to do now and then. What there is to do is found in the tables each time, so that a
 * job that is called too often, twice at once, or never finished does no harm.
 */
export interface Job {
  /** `<noun>__<verb>`, the name of its file in `jobs/`. */
  name: string;
  run: (context: JobContext) => Promise<void>;
}

/** What the tables know the next time of. */
export type DueKind = "release" | "expire" | "close";

/** When a job runs: at times, like a line of a crontab, or whenever something is due. */
export type When = { cron: string } | { due: DueKind };
