import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Pool, PoolClient } from "pg";

/**
 * Why the database gave no answer, and so what may be said to the client:
 * - conflict: it took the call back (deadlock, lock timeout, out of resources): nothing happened;
 * - unreachable: no connection was to be had, nothing was sent: nothing happened;
 * - lost: the connection broke while the call was under way: nobody knows whether it was committed;
 * - overloaded: too many requests are waiting already, this one was not even queued.
 */
export type FailureKind = "conflict" | "unreachable" | "lost" | "overloaded";

/** The database gave no answer, after all retries that were safe. Not a fault of the request. */
export class DatabaseFailure extends Error {
  readonly kind: FailureKind;
  /** What PostgreSQL gave as the reason, if it was PostgreSQL that failed. */
  readonly sqlstate: string | undefined;

  constructor(kind: FailureKind, cause?: unknown) {
    super(`The database gave no answer: ${kind}`, { cause });
    this.name = "DatabaseFailure";
    this.kind = kind;
    this.sqlstate = cause instanceof pg.DatabaseError ? cause.code : undefined;
  }
}

/**
 * The failure of a call that only leads up to what a request is about, which has not begun: nothing
 * has happened, whether or not that call got through.
 */
export function beforeAnything(error: unknown): unknown {
  const isLost = error instanceof DatabaseFailure && error.kind === "lost";
  return isLost ? new DatabaseFailure("unreachable", error) : error;
}

/** Makes an attempt when its turn has come, and gives what it gives. */
export type Turn = <T>(attempt: () => Promise<T>) => Promise<T>;

export interface RetryOptions {
  /** Whether the call may be made again although it may have been carried out: true for reads. */
  repeatable?: boolean;
  /** After a conflict the caller makes another call instead: this one is not made again. */
  exceptConflicts?: boolean;
  /** Calls at most. */
  attempts?: number;
  /** The longest first wait between two attempts; each further one may last twice as long. */
  backoffMs?: number;
  /** No attempt is begun later than this after the first one. */
  patienceMs?: number;
  /** Each attempt waits for its turn before it takes a connection; see call_limiter.ts. */
  turn?: Turn;
}

const DEFAULT_ATTEMPTS = 5;
const DEFAULT_BACKOFF_MS = 20;
const DEFAULT_PATIENCE_MS = 3000;

/**
 * SQLSTATEs after which nothing has happened and another attempt may succeed: serialization
 * failure, deadlock, lock not available; statement timeout; a standby; no disk space, memory or
 * connections left; a statement that an upgrade of the schema overtook (two states); a session
 * that the exchange refuses, which a pooler may have given us.
 */
const conflictStates = /^(40001|40P01|55P03|57014|25006|53[0-3]\w{2}|0A000|42804|EX025)$/;

/** After these the session is as good as before, and it has cost something to open it. */
const harmlessStates = /^(40001|40P01|55P03|57014|22\w{3}|23\w{3}|EX\w{3})$/;

/** Classes of SQLSTATEs that never end a session: data, integrity, syntax, PL/pgSQL, our own. */
const statementErrors = /^(0A|22|23|2F|38|39|42|P0|EX)/;

type FailureObserver = (failure: DatabaseFailure, retried: boolean) => void;

const observers = new WeakMap<Pool, FailureObserver>();

/** Has every failure on this pool told of, and whether the call is made again. */
export function observeFailures(pool: Pool, observer: FailureObserver): void {
  observers.set(pool, observer);
}

/**
 * Makes one call on a connection of its own, and again as long as it is known that nothing has
 * happened. The call must be a single statement outside a transaction block. Throws a
 * {@link DatabaseFailure}, or whatever else the call throws.
 */
export async function withRetries<T>(
  pool: Pool,
  call: (client: PoolClient) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const attempts = options.attempts ?? DEFAULT_ATTEMPTS;
  const deadline = Date.now() + (options.patienceMs ?? DEFAULT_PATIENCE_MS);
  const turn = options.turn ?? ((attempt) => attempt());
  for (let attempt = 1; ; attempt++) {
    try {
      return await turn(() => callOnce(pool, call));
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error;
      const repeatable =
        error.kind !== "overloaded" &&
        (error.kind !== "lost" || options.repeatable === true) &&
        (error.kind !== "conflict" || options.exceptConflicts !== true);
      const retried = repeatable && attempt < attempts && Date.now() <= deadline;
      const leftToCaller = error.kind === "conflict" && options.exceptConflicts === true;
      observers.get(pool)?.(error, retried || leftToCaller);
      if (!retried) throw error;
    }
    const longest = (options.backoffMs ?? DEFAULT_BACKOFF_MS) * 2 ** (attempt - 1);
    await delay(longest * (0.5 + Math.random() / 2));
  }
}

async function callOnce<T>(pool: Pool, call: (client: PoolClient) => Promise<T>): Promise<T> {
  let client: PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw new DatabaseFailure("unreachable", error);
  }
  try {
    const result = await call(client);
    client.release();
    return result;
  } catch (error) {
    // The next call doesn't have to find out whether the connection is to blame.
    client.release(!isHarmless(error));
    const kind = failureKind(error);
    throw kind === undefined ? error : new DatabaseFailure(kind, error);
  }
}

function isHarmless(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.severity === "ERROR" &&
    harmlessStates.test(error.code ?? "")
  );
}

/** What an error of a call that was sent says. Undefined: the call itself is at fault. */
function failureKind(error: unknown): FailureKind | undefined {
  if (!(error instanceof pg.DatabaseError)) {
    // pg reports whatever happens to a connection as a plain Error; mistakes of ours have types.
    return error instanceof Error && error.constructor === Error ? "lost" : undefined;
  }
  const { code = "", severity = "" } = error;
  // A session that ends is no proof that its last transaction had not got through.
  if (severity === "FATAL" || severity === "PANIC") return "lost";
  if (conflictStates.test(code)) return "conflict";
  // The server may translate the severity, so what is no error of a statement for sure is "lost".
  return severity === "ERROR" || statementErrors.test(code) ? undefined : "lost";
}
