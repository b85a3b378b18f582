import type { Pool } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { abandonPool } from "./pools.ts";

/** Does one step of a start, which fails when it takes longer than that. */
export type Step = <T>(
  what: string,
  mostMs: number,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** For a few short queries. A connection may take half of it. */
export const CHECKS_MS = 10_000;
/** For opening connections, each of which trades to be warm. */
export const OPENING_MS = 30_000;

/**
 * Starts something on these pools, step by step. A pooler that has no server connection left keeps a
 * query waiting for minutes, and a server that is cut off for hours, so each step has a time limit.
 * When a step fails or takes too long, or when the signal comes, the step under way fails and the
 * pools are ended, their connections cut.
 */
export async function startInSteps<T>(
  pools: Pool[],
  signal: AbortSignal | undefined,
  start: (step: Step) => Promise<T>,
): Promise<T> {
  const given = new AbortController();
  const giveUp = (reason: unknown): void => {
    given.abort(reason);
  };
  const ended = (): void => {
    giveUp(signal?.reason);
  };
  const failed = new Promise<never>((_resolve, reject) => {
    given.signal.addEventListener("abort", () => {
      reject(given.signal.reason as Error);
    });
  });
  failed.catch(() => undefined);
  signal?.addEventListener("abort", ended);

  const step: Step = async (what, mostMs, work) => {
    const timer = setTimeout(() => {
      giveUp(tooLate(what, mostMs));
    }, mostMs);
    try {
      return await Promise.race([work(given.signal), failed]);
    } finally {
      clearTimeout(timer);
    }
  };

  try {
    signal?.throwIfAborted();
    return await start(step);
  } catch (error) {
    giveUp(error);
    await Promise.all(pools.map(abandonPool));
    throw error;
  } finally {
    signal?.removeEventListener("abort", ended);
  }
}

function tooLate(what: string, mostMs: number): DatabaseNotReadyError {
  return new DatabaseNotReadyError(
    `${what} took longer than ${mostMs / 1000} s: the database does not answer, or a pooler ` +
      "between has no connection left",
    { reason: "database_unreachable" },
  );
}
