import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { DatabaseFailure } from "./failures.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import type { NotReadyReason } from "./not_ready.ts";
import { hasCode } from "../has_code.ts";

export interface WaitOptions {
  logger: Logger;
  /** Aborted when there is no use in waiting any more. */
  signal: AbortSignal;
  /** Told of every reason to wait. */
  onWaiting?: (reason: NotReadyReason) => void;
  /** For tests: how often the log says that the wait goes on. */
  remindEveryMs?: number;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2000;
const REMIND_EVERY_MS = 60_000;

/**
 * Makes attempts at something that needs the database until one succeeds. Waits for what passes
 * without a change of our configuration ({@link reasonToWait}); throws everything else at once.
 */
export async function waitForDatabase<T>(
  attempt: () => Promise<T>,
  { logger, signal, onWaiting, remindEveryMs = REMIND_EVERY_MS }: WaitOptions,
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
      if (reason !== said || performance.now() - saidAt >= remindEveryMs) {
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
 * Why it is worth waiting, if it is: the database can't be reached, starts or shuts down, has no
 * connection left, takes no writes yet (a failover), or is being migrated. A wrong password, a
 * missing database or role, and a server or schema of another version need a person: undefined.
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

/** Taken back by the database: serialization, deadlock, a lock or a statement that took too long. */
const takenBack = /^(?:40001|40P01|55P03|57014)$/;

/** Whether an error says that the database is away, or could not do something for now; only that. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseFailure) return error.kind !== "overloaded";
  if (error instanceof pg.DatabaseError && takenBack.test(error.code ?? "")) return true;
  // A file that is missing has the same code as the socket of a database that is away.
  if (hasCode(error, "ENOENT") && (error as NodeJS.ErrnoException).syscall !== "connect")
    return false;
  const reason = reasonToWait(error);
  return reason === "database_unreachable" || reason === "read_only";
}

const passingReasons = new Set<NotReadyReason>([
  "database_unreachable",
  "migrations_missing",
  "read_only",
]);

/** Connection failures, out of resources, shutting down, starting, a standby. */
const passingStates = /^(08\w{3}|53\w{3}|57P0[1-5]|25006)$/;

/** What is said of roles and schemas that a migration makes, and of those that it lets nobody in yet. */
const beforeMigration =
  /role "exchange_\w+" does not exist|permission denied for (?:schema graphile_\w+|table migrations)/;

/** How PgBouncer refuses a startup parameter, by a code of the class of connection failures. */
const UNSUPPORTED_PARAMETER = "unsupported startup parameter";

const passingErrnos = [
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOENT", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN"],
  // A name that is not known yet: where containers start together, it comes with the database.
  ...["ENOTFOUND", "EAI_AGAIN"],
];

/** Once the signal came, an attempt has this long to end in order. */
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
