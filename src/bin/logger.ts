import pg from "pg";
import { destination, pino, stdTimeFunctions } from "pino";
import type { DestinationStream, Logger } from "pino";
import { DatabaseFailure } from "../database/failures.ts";
import { DatabaseNotReadyError } from "../database/not_ready.ts";

/** The log of a process: JSON lines on standard error. Standard output is for people and scripts. */
export function makeLogger(level: string, stream: DestinationStream = destination(2)): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Libraries log errors by themselves, which pino then calls err.
      serializers: { error: describeError, err: describeError },
    },
    stream,
  );
}

/** How pg says that a URL has no password. */
const PASSWORD_MISSING = "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string";

/** An error in one line, for a person who starts a process. Errors of our code have their stack. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof pg.DatabaseError) {
    const hint = error.hint === undefined ? "" : ` (${error.hint})`;
    return `${error.message}${hint} (SQLSTATE ${error.code ?? "unknown"})`;
  }
  if (error.message === PASSWORD_MISSING)
    return "the server asks for a password; give one in the URL";
  const expected = error instanceof DatabaseNotReadyError || "code" in error;
  if (!expected) return String(error.stack);
  // Node gives an AggregateError without a message if a name has several addresses.
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

/** Errors of sockets, files and the operator's setup. Their stack in our code explains nothing. */
function isOfSystem(error: Error): boolean {
  return "syscall" in error || error instanceof DatabaseNotReadyError;
}

/** What the log shows of an error. Errors of pg also have statement and values: these stay out. */
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
