import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Pool, PoolClient } from "pg";

/**
 * Why a call had no result:
 * - conflict: the database rolled it back (deadlock, lock timeout, out of resources): no effect;
 * - unreachable: there was no connection, so nothing was sent: no effect;
 * - lost: the connection broke during the call: it may have been committed;
 * - overloaded: too many requests wait already, or this one for too long: no effect.
 */
export type FailureKind = "conflict" | "unreachable" | "lost" | "overloaded";

/** A call had no result, after all retries that were safe. Not a fault of the request. */
export class DatabaseFailure extends Error {
  readonly kind: FailureKind;
  /** The error code, if PostgreSQL reported one. */
  readonly sqlstate: string | undefined;

  constructor(kind: FailureKind, cause?: unknown) {
    super(`The database gave no answer: ${kind}`, { cause });
    this.name = "DatabaseFailure";
    this.kind = kind;
    this.sqlstate = cause instanceof pg.DatabaseError ? cause.code : undefined;
  }
}

/** Whether a call was lost, so that it may have been committed. */
export function isLost(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind === "lost";
}

/**
 * The failure of a call that precedes the command of a request. The command has not begun, so it had
 * no effect, also if that call is lost.
 */
export function beforeAnything(error: unknown): unknown {
  return isLost(error) ? new DatabaseFailure("unreachable", error) : error;
}

/** Makes an attempt when its turn has come, and returns its result. */
export type Turn = <T>(attempt: () => Promise<T>) => Promise<T>;

export interface RetryOptions {
  /** Whether the call may be made again although it may have been carried out: true for reads. */
  repeatable?: boolean;
  /** Conflicts are not retried: the caller makes another call instead. */
  exceptConflicts?: boolean;
  /** Calls at most. */
  attempts?: number;
  /** The longest first wait between two attempts; each further one may last twice as long. */
  backoffMs?: number;
  /** No attempt is begun later than this after the first one. */
  patienceMs?: number;
  /** How long a call is made again that met locks which lasted longer than it may wait. */
  lockPatienceMs?: number;
  /** Each attempt waits for its turn before it takes a connection; see call_limiter.ts. */
  turn?: Turn;
}

const DEFAULT_ATTEMPTS = 5;
const DEFAULT_BACKOFF_MS = 20;
const DEFAULT_PATIENCE_MS = 3000;
const SHORTEST_LOCK_PAUSE_MS = 5;
const LONGEST_LOCK_PAUSE_MS = 80;

/** How long a command pauses that has met so many locks, one after the other, after the first. */
export function lockPauseMs(times: number): number {
  return times < 1 ? 0 : Math.min(SHORTEST_LOCK_PAUSE_MS * 2 ** (times - 1), LONGEST_LOCK_PAUSE_MS);
}

/**
 * SQLSTATEs after which nothing has happened and another attempt may succeed: serialization
 * failure, deadlock, lock not available; statement timeout; a standby; no disk space, memory or
 * connections left; a statement that an upgrade of the schema overtook (two states); a session
 * that the exchange rejects, which a pooler may have given us.
 */
const conflictStates = /^(40001|40P01|55P03|57014|25006|53[0-3]\w{2}|0A000|42804|EX025)$/;

/** The SQLSTATE of a call that waited for a lock as long as it may. */
const LOCK_NOT_AVAILABLE = "55P03";

/** Whether a call had no effect because it waited for a lock as long as it may. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.sqlstate === LOCK_NOT_AVAILABLE;
}

/** After these the session can still be used. */
const harmlessStates = /^(40001|40P01|55P03|57014|22\w{3}|23\w{3}|EX\w{3})$/;

/** Classes of SQLSTATEs that never end a session: data, integrity, syntax, PL/pgSQL, our own. */
const statementErrors = /^(0A|22|23|2F|38|39|42|P0|EX)/;

type FailureObserver = (failure: DatabaseFailure, retried: boolean) => void;

const observers = new WeakMap<Pool, FailureObserver>();

/** Reports every failure on this pool, and whether the call is made again. */
export function observeFailures(pool: Pool, observer: FailureObserver): void {
  observers.set(pool, observer);
}

/**
 * Makes one call on a connection of its own, and repeats it as long as that is safe. The call must be
 * a single statement outside a transaction block. Throws a {@link DatabaseFailure}, or what else the
 * call throws.
 */
export async function withRetries<T>(
  pool: Pool,
  call: (client: PoolClient) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const attempts = options.attempts ?? DEFAULT_ATTEMPTS;
  const began = performance.now();
  const patienceMs = options.patienceMs ?? DEFAULT_PATIENCE_MS;
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
      const tookMs = performance.now() - began;
      const isPatient = isLockTimeout(error) && tookMs <= (options.lockPatienceMs ?? 0);
      const retried = repeatable && (isPatient || (attempt < attempts && tookMs <= patienceMs));
      const leftToCaller = error.kind === "conflict" && options.exceptConflicts === true;
      observers.get(pool)?.(error, retried || leftToCaller);
      if (!retried) throw error;
      const backoffMs = (options.backoffMs ?? DEFAULT_BACKOFF_MS) * 2 ** (attempt - 1);
      const longestMs = isPatient ? lockPauseMs(attempt) : backoffMs;
      await delay(longestMs * (0.5 + Math.random() / 2));
    }
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
    // Unless the session is certainly good, the connection is closed.
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

/** The error of a connection that others opened, as the failure that it is, if it is one. */
export function asFailure(error: unknown): unknown {
  // A host may have several addresses, all of which are tried.
  const kind = error instanceof AggregateError ? "unreachable" : failureKind(error);
  return kind === undefined ? error : new DatabaseFailure(kind, error);
}

/** What the error of a call that was sent means. Undefined: the call itself is at fault. */
function failureKind(error: unknown): FailureKind | undefined {
  if (!(error instanceof pg.DatabaseError)) {
    // pg reports all faults of a connection as plain Errors; mistakes of our code have types.
    return error instanceof Error && error.constructor === Error ? "lost" : undefined;
  }
  const { code = "", severity = "" } = error;
  // A session that ended may have committed its last transaction before.
  if (severity === "FATAL" || severity === "PANIC") return "lost";
  if (conflictStates.test(code)) return "conflict";
  // The server may translate the severity, so everything but certain statement errors is "lost".
  return severity === "ERROR" || statementErrors.test(code) ? undefined : "lost";
}
