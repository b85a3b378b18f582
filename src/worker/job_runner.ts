import type { Pool } from "pg";
import type { Logger } from "pino";
import { callsOn } from "../database/call.ts";
import { jobs } from "../database/calls.ts";
import type { NextDue } from "../database/calls.ts";
import { doWhatIsDue } from "./due_markets.ts";
import { makeHeldMarkets } from "./held_markets.ts";
import type { WorkerHealth } from "./health.ts";
import type { Job, JobContext } from "./job.ts";

export interface CrewOptions {
  pool: Pool;
  logger: Logger;
  health: WorkerHealth;
  /** Told after each piece of work that was committed. */
  onWorked?: (() => void) | undefined;
}

/** Runs jobs in this process, each at most once at a time. */
export interface Crew {
  /** Settles when the job is done, or at once if it is under way. */
  run: (job: Job) => Promise<void>;
  /** Whether a job that is due has to be rung for, or somebody sees to it already. */
  isWanted: (job: Job) => boolean;
  /** When something is due in markets that nobody was found to hold a moment ago. */
  nextDue: () => Promise<NextDue>;
  /** To be told when a job was rung for. */
  rung: (job: Job) => void;
  /** Has jobs that are under way end after their present piece. */
  end: () => void;
}

/** Who was rung for and not seen here within this time is taken to be lost with its worker. */
const PATIENCE_MS = 1000;

interface State {
  running: boolean;
  rungAt: number;
  doneAt: number;
}

/** Those who do the work of this process. */
export function makeCrew({ pool, logger, health, onWorked }: CrewOptions): Crew {
  const states = new Map<string, State>();
  const held = makeHeldMarkets({
    onLong: (market) => {
      logger.warn({ market }, "a market stays locked: what is due in it waits");
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
    nextDue: () => calls.nextDue({ passingOver: held.list() }),
    untilNothingIsLeft: async (piece) => {
      while (!ending && (await doPiece(piece)) > 0);
    },
    isEnding: () => ending,
  };

  function stateOf(job: Job): State {
    const state = states.get(job.name) ?? { running: false, rungAt: -Infinity, doneAt: -Infinity };
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

  function isWanted(job: Job): boolean {
    const { running, rungAt, doneAt } = stateOf(job);
    if (running) return false;
    return doneAt > rungAt || performance.now() - rungAt >= PATIENCE_MS;
  }

  return {
    run,
    isWanted,
    nextDue: () => calls.nextDue({ passingOver: held.list() }, { attempts: 1 }),
    rung: (job) => {
      stateOf(job).rungAt = performance.now();
    },
    end: () => {
      ending = true;
    },
  };
}
