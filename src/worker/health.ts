import type { Logger } from "pino";
import { DatabaseFailure } from "../database/failures.ts";

/** What fails in a worker. Without it, a worker that runs and does nothing would look healthy. */
export interface WorkerHealth {
  /** A task was tried and failed. */
  failed: (what: string, error: unknown) => void;
  /** It succeeded. */
  succeeded: (what: string) => void;
  /** How far the clock of this process is ahead of the database's. Far off, the worker is not ready. */
  noteClockOffset: (ms: number) => void;
  /** Undefined before it was measured. */
  clockOffsetMs: () => number | undefined;
  /** The tasks whose last attempt failed. Empty for a worker that is ready. */
  failing: () => string[];
}

/** A clock that is off by this much is a fault of its machine. */
const MOST_CLOCK_OFFSET_MS = 5000;
const KEEPING_TIME = "keeping the time of the database";
/** A lasting failure is logged this often. */
const LOGGED_EVERY_MS = 60_000;

/** Remembers what fails, and logs it: at once, and each minute until it succeeds. */
export function makeWorkerHealth(logger: Logger, now = Date.now): WorkerHealth {
  const faults = new Map<string, { loggedAt: number }>();
  let offsetMs: number | undefined;
  const health: WorkerHealth = {
    failed: (what, error) => {
      const fault = faults.get(what) ?? { loggedAt: -Infinity };
      faults.set(what, fault);
      if (now() - fault.loggedAt < LOGGED_EVERY_MS) return;
      fault.loggedAt = now();
      const level = isOutage(error) ? "warn" : "error";
      logger[level]({ error, what }, `the worker is not ready: ${what} fails`);
    },
    succeeded: (what) => {
      if (!faults.delete(what)) return;
      logger.info({ what, ready: faults.size === 0 }, `${what} works again`);
    },
    noteClockOffset: (ms) => {
      offsetMs = ms;
      if (Math.abs(ms) < MOST_CLOCK_OFFSET_MS) health.succeeded(KEEPING_TIME);
      else health.failed(KEEPING_TIME, new Error(offsetText(ms)));
    },
    clockOffsetMs: () => offsetMs,
    failing: () => [...faults.keys()].sort(),
  };
  return health;
}

function offsetText(ms: number): string {
  const seconds = (Math.abs(ms) / 1000).toFixed(1);
  return `the clock here is ${seconds} s ${ms > 0 ? "ahead of" : "behind"} the database's`;
}

/** Whether the database is away: no fault of the worker. */
function isOutage(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind !== "conflict";
}
