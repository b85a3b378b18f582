import pg from "pg";
import { destination, pino, stdTimeFunctions } from "pino";
import type { DestinationStream, Logger } from "pino";
import { DatabaseFailure } from "./database/failures.ts";
import { DatabaseNotReadyError } from "./database/not_ready.ts";

/**
 * The log of a process: JSON lines on standard error, since standard output is for what people and
 * scripts wait for.
 */
export function makeLogger(level: string, stream: DestinationStream = destination(2)): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Errors that are logged as they are, by libraries, are called err by pino.
      serializers: { error: describeError, err: describeError },
    },
    stream,
  );
}

/** One line for people who start or migrate: what went wrong outside of our code, and its code. */
export function tellError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof pg.DatabaseError) {
    const hint = error.hint === undefined ? "" : ` (${error.hint})`;
    return `${error.message}${hint} (SQLSTATE ${error.code ?? "unknown"})`;
  }
  const expected = error instanceof DatabaseNotReadyError || "code" in error;
  if (!expected) return String(error.stack);
  // Node gives an AggregateError without a message if a name has several addresses.
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

/** Errors of sockets and files: where in our code they came up says nothing about them. */
function isOfSystem(error: Error): boolean {
  return "syscall" in error || error instanceof DatabaseNotReadyError;
}

/**
 * What the log may know of an error. An error of pg also carries the values and the statement
 * that it met, so it is not logged as it is.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const described: Record<string, unknown> = { type: error.name, message: error.message };
  if (error instanceof pg.DatabaseError) {
    const { code, hint, constraint, table, routine } = error;
    Object.assign(described, { type: "DatabaseError", sqlstate: code, hint });
    Object.assign(described, { constraint, table, routine });
  } else if (error instanceof DatabaseFailure) {
    described.sqlstate = error.sqlstate;
  } else if (!isOfSystem(error)) {
    described.stack = error.stack;
  }
  if (error.cause !== undefined) described.cause = describeError(error.cause);
  return described;
}
