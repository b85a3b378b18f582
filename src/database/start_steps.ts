import type { Pool } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { abandonPool } from "./pools.ts";

/** Does one step of a start. It fails when it takes longer than `mostMs`. */
export type Step = <T>(
  what: string,
  mostMs: number,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** For a few short queries. The connection may take half of it. */
export const CHECKS_MS = 10_000;
/** For opening connections and warming them up. */
export const OPENING_MS = 30_000;

/**
 * Starts something on these pools, in steps. A query may wait for minutes at a pooler without server
 * connections, and for hours at a server that is cut off, so each step has a time limit. When a step
 * fails or takes too long, or when the signal comes, the step under way fails, the pools are ended,
 * and their connections are cut.
 */
export async function startInSteps<T>(
  pools: Pool[],
  signal: AbortSignal | undefined,
  start: (step: Step) => Promise<T>,
): Promise<T> {
  const step: Step = async (what, mostMs, work) => {
    signal?.throwIfAborted();
    const late = AbortSignal.timeout(mostMs);
    const given = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      return await Promise.race([work(given), failOn(given)]);
    } catch (error) {
      throw given.reason === late.reason && late.aborted ? tooLate(what, mostMs) : error;
    }
  };

  try {
    signal?.throwIfAborted();
    return await start(step);
  } catch (error) {
    await Promise.all(pools.map(abandonPool));
    throw error;
  }
}

/** Fails with the reason of the signal when that comes. */
function failOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason as Error);
    });
  });
}

function tooLate(what: string, mostMs: number): DatabaseNotReadyError {
  return new DatabaseNotReadyError(
    `${what} took longer than ${mostMs / 1000} s: the database does not answer, or a pooler ` +
      "between has no connection left",
    { reason: "database_unreachable" },
  );
}
