import type { Pool } from "pg";
import type { Logger } from "pino";
import { callsOn } from "../database/call.ts";
import { jobs } from "../database/job_calls.ts";
import type { NextWork } from "../database/job_calls.ts";
import { doWhatIsDue } from "./due_markets.ts";
import type { WorkerHealth } from "./health.ts";
import { makeHeldMarkets } from "./held_markets.ts";
import type { Job, JobContext } from "./job.ts";

export interface JobRunnerOptions {
  pool: Pool;
  logger: Logger;
  health: WorkerHealth;
  /** Called after each piece of work that was committed. */
  onWorked?: (() => void) | undefined;
}

/** Runs jobs in this process, each at most once at a time. */
export interface JobRunner {
  /** Settles when the job is done, or at once if it is under way. */
  run: (job: Job) => Promise<void>;
  /** Whether a job that is due must be requested: it does not run, and no request is under way. */
  isNeeded: (job: Job) => boolean;
  /** When something is due, except in markets that were found locked a moment ago. */
  nextWork: () => Promise<NextWork>;
  noteRequest: (job: Job) => void;
  /** Ends the jobs under way after their present piece. */
  end: () => void;
}

/** A requested job that did not run here within this time is taken for lost with its worker. */
const PATIENCE_MS = 1000;

interface State {
  running: boolean;
  requestedAt: number;
  doneAt: number;
}

/** Makes the job runner of a process, on a pool that acts as exchange_worker. */
export function makeJobRunner({ pool, logger, health, onWorked }: JobRunnerOptions): JobRunner {
  const states = new Map<string, State>();
  const held = makeHeldMarkets({
    onLong: (market) => {
      logger.warn({ market }, "a market stays locked: due work in it waits");
    },
  });
  let ending = false;

  const calls = callsOn(pool, jobs);

  const doPiece: JobContext["doPiece"] = async (piece) => {
    const count = await piece(calls);
    if (count !== null && count > 0) onWorked?.();
    return count;
  };

  const context: JobContext = {
    logger,
    calls,
    doPiece,
    doWhatIsDue: (work) => doWhatIsDue(context, held, work),
    nextWork: () => calls.nextWork({ passingOver: held.list() }),
    untilNothingIsLeft: async (piece) => {
      while (!ending && (await doPiece(piece)) > 0);
    },
    isEnding: () => ending,
  };

  function stateOf(job: Job): State {
    const state = states.get(job.name) ?? {
      running: false,
      requestedAt: -Infinity,
      doneAt: -Infinity,
    };
    states.set(job.name, state);
    return state;
  }

  async function run(job: Job): Promise<void> {
    const state = stateOf(job);
    if (state.running) return;
    state.running = true;
    try {
      await job.run(context);
      state.doneAt = performance.now();
      health.succeeded(job.name);
    } catch (error) {
      health.failed(job.name, error);
      throw error;
    } finally {
      state.running = false;
    }
  }

  function isNeeded(job: Job): boolean {
    const { running, requestedAt, doneAt } = stateOf(job);
    if (running) return false;
    return doneAt > requestedAt || performance.now() - requestedAt >= PATIENCE_MS;
  }

  return {
    run,
    isNeeded,
    nextWork: () => calls.nextWork({ passingOver: held.list() }, { attempts: 1 }),
    noteRequest: (job) => {
      stateOf(job).requestedAt = performance.now();
    },
    end: () => {
      ending = true;
    },
  };
}
