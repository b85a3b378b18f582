import type { Logger } from "pino";
import { DatabaseFailure } from "../database/failures.ts";

/** Whether a worker does what it is there for: nobody would notice one that only seems to. */
export interface WorkerHealth {
  /** Something that has to be done was tried and failed. */
  failed: (what: string, error: unknown) => void;
  /** It was done. */
  succeeded: (what: string) => void;
  /** What failed when it was tried last; empty for a worker that is ready. */
  failing: () => string[];
}

/** A failure that lasts is logged this often. */
const TOLD_EVERY_MS = 60_000;

/** Remembers what failed last time, and says so: at once, and each minute until it is done again. */
export function makeWorkerHealth(logger: Logger, now = Date.now): WorkerHealth {
  const faults = new Map<string, { toldAt: number }>();
  return {
    failed: (what, error) => {
      const fault = faults.get(what) ?? { toldAt: -Infinity };
      faults.set(what, fault);
      if (now() - fault.toldAt < TOLD_EVERY_MS) return;
      fault.toldAt = now();
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

/** The database is away, which nobody can do anything about here. */
function isOutage(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind !== "conflict";
}
