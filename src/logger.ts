import pg from "pg";
import { destination, pino, stdTimeFunctions } from "pino";
import type { DestinationStream, Logger } from "pino";

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

/**
 * What the log may know of an error. An error of pg also carries the values and the statement
 * that it met, so it is not logged as it is.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const described: Record<string, unknown> = { type: error.name, message: error.message };
  if (error instanceof pg.DatabaseError) {
    const { code, constraint, table, routine } = error;
    Object.assign(described, { type: "DatabaseError", sqlstate: code, constraint, table, routine });
  }
  described.stack = error.stack;
  if (error.cause !== undefined) described.cause = describeError(error.cause);
  return described;
}
