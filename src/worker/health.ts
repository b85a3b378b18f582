import type { Logger } from "pino";
import { DatabaseFailure } from "../database/failures.ts";

/** What fails in a worker. Without it, a worker that runs and does nothing would look healthy. */
export interface WorkerHealth {
  /** A task was tried and failed. */
  failed: (what: string, error: unknown) => void;
  /** It succeeded. */
  succeeded: (what: string) => void;
  /** The tasks whose last attempt failed. Empty for a worker that is ready. */
  failing: () => string[];
}

/** A lasting failure is logged this often. */
const LOGGED_EVERY_MS = 60_000;

/** Remembers what fails, and logs it: at once, and each minute until it succeeds. */
export function makeWorkerHealth(logger: Logger, now = Date.now): WorkerHealth {
  const faults = new Map<string, { loggedAt: number }>();
  return {
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
    failing: () => [...faults.keys()].sort(),
  };
}

/** Whether the database is away: no fault of the worker. */
function isOutage(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind !== "conflict";
}
