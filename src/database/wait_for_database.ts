import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { hasCode } from "../has_code.ts";
import { DatabaseFailure } from "./failures.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import type { NotReadyReason } from "./not_ready.ts";

export interface WaitOptions {
  logger: Logger;
  /** Aborts the wait. */
  signal: AbortSignal;
  /** Called with every reason to wait. */
  onWaiting?: (reason: NotReadyReason) => void;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2000;
/** The log repeats the reason this often. */
const REMIND_EVERY_MS = 60_000;

/**
 * Makes attempts at something that needs the database until one succeeds. Waits after errors that may
 * pass by themselves ({@link reasonToWait}). Throws all others at once.
 */
export async function waitForDatabase<T>(
  attempt: () => Promise<T>,
  { logger, signal, onWaiting }: WaitOptions,
): Promise<T> {
  const began = performance.now();
  let said: NotReadyReason | undefined;
  let saidAt = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    signal.throwIfAborted();
    try {
      const result = await unlessAborted(attempt(), signal);
      if (said !== undefined) logger.info({ waitedMs: elapsedMs(began) }, "the database is ready");
      return result;
    } catch (error) {
      const reason = reasonToWait(error);
      if (reason === undefined) throw error;
      onWaiting?.(reason);
      if (reason !== said || performance.now() - saidAt >= REMIND_EVERY_MS) {
        said = reason;
        saidAt = performance.now();
        const { message, code } = error as NodeJS.ErrnoException;
        // Node gives an error without a message if a name has several addresses.
        const because = message === "" ? code : message;
        logger.warn({ reason, because, waitedMs: elapsedMs(began) }, "waiting for the database");
      }
    }
    await delay(waitMs, undefined, { signal });
  }
}

/**
 * The reason to wait after this error: the database can't be reached, starts or shuts down, has no
 * connection left, takes no writes yet (a failover), is being migrated, or is a copy whose sequences
 * are not set yet. Undefined for what a person must repair: a wrong password, a missing database or
 * role, another version.
 */
export function reasonToWait(error: unknown): NotReadyReason | undefined {
  if (error instanceof DatabaseNotReadyError) {
    return passingReasons.has(error.reason) ? error.reason : undefined;
  }
  if (error instanceof pg.DatabaseError) {
    const { code = "", message } = error;
    if (beforeMigration.test(message)) return "migrations_missing";
    if (!passingStates.test(code) || message.includes(UNSUPPORTED_PARAMETER)) return undefined;
    return "database_unreachable";
  }
  if (hasCode(error, ...passingErrnos)) return "database_unreachable";
  // pg reports a connection that broke or timed out as a plain Error.
  const isPassing =
    error instanceof Error && /timeout|terminated|not queryable/i.test(error.message);
  return isPassing ? "database_unreachable" : undefined;
}

/**
 * Serialization failure, deadlock, lock timeout, statement timeout; a password that is refused, as
 * while it is being changed.
 */
const passesLater = /^(?:40001|40P01|55P03|57014|28P01)$/;

/** Whether the error only means that the database is away, or could not do something for now. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseFailure) return error.kind !== "overloaded";
  if (error instanceof pg.DatabaseError && passesLater.test(error.code ?? "")) return true;
  // A missing file has the same code as the missing socket of a database.
  if (hasCode(error, "ENOENT") && (error as NodeJS.ErrnoException).syscall !== "connect")
    return false;
  const reason = reasonToWait(error);
  return reason === "database_unreachable" || reason === "read_only";
}

const passingReasons = new Set<NotReadyReason>([
  "database_unreachable",
  "migrations_missing",
  "read_only",
  "sequences_behind",
]);

/** Connection failures, out of resources, shutting down, starting, a standby. */
const passingStates = /^(08\w{3}|53\w{3}|57P0[1-5]|25006)$/;

/** Errors for roles and schemas that the migration under way has not made or granted yet. */
const beforeMigration =
  /role "exchange_\w+" does not exist|permission denied for (?:schema graphile_\w+|table migrations)/;

/** PgBouncer rejects a startup parameter with this message and a code of connection failures. */
const UNSUPPORTED_PARAMETER = "unsupported startup parameter";

const passingErrnos = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  // Names of containers are unknown until they have started.
  "ENOTFOUND",
  "EAI_AGAIN",
];

/** After the signal, an attempt has this long to end in order. */
const LAST_ATTEMPT_MS = 500;

async function unlessAborted<T>(attempt: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => {
      setTimeout(() => {
        reject(signal.reason as Error);
      }, LAST_ATTEMPT_MS);
    };
    signal.addEventListener("abort", giveUp, { once: true, signal: settled.signal });
  });
  try {
    return await Promise.race([attempt, aborted]);
  } finally {
    settled.abort();
  }
}

function elapsedMs(began: number): number {
  return Math.round(performance.now() - began);
}
