import pg from "pg";
import { isSafeError } from "postgraphile/grafast";
import { GraphQLError } from "postgraphile/graphql";
import { codeOfSqlstate, errorCodes } from "../database/error_codes.ts";
import { WHEN_UNKNOWN } from "./answers.ts";

/** An error as its caller may see it. */
export interface ShownError {
  shown: GraphQLError;
  /** An unforeseen error: its caller gets no details, and the log has all of them. */
  unforeseen: boolean;
}

const STATEMENT_TIMEOUT = "57014";
export const TOOK_TOO_LONG = "The query took too long";
export const TEMPORARY_FILES = "53400";
export const READ_ONLY = "25006";
/** A serialization failure, a deadlock, a lock that was not free in time: all was rolled back. */
export const CONFLICTS = ["40001", "40P01", "55P03"];
/** Faults of the given values, and values that a function does not support. */
const faultOfValues = /^(22|0A)/;

/**
 * Rejections of the exchange have their code, faults of the given values have INVALID_REQUEST. A
 * mutation whose connection was lost may have been carried out. GraphQL's own errors are about the
 * query, and are shown as they are.
 */
export function showError(error: GraphQLError, isMutation: boolean): ShownError {
  const cause = error.originalError;
  if (cause === undefined || cause instanceof GraphQLError)
    return { shown: error, unforeseen: false };
  const known =
    describeFailure(cause, isMutation) ??
    (cause instanceof pg.DatabaseError ? describeDatabaseError(cause) : describeOwnError(cause));
  const { message = "Internal server error", code } = known ?? {};
  const shown = new GraphQLError(message, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions: code === undefined ? null : { code },
  });
  return { shown, unforeseen: known === undefined };
}

/** The command had no effect, and may be repeated. */
const conflict = { message: errorCodes.CONFLICT_RETRY.message, code: "CONFLICT_RETRY" };
const unknown = { message: `The outcome is unknown; ${WHEN_UNKNOWN}`, code: "OUTCOME_UNKNOWN" };

/** What the pool of connections says when none was free in time: nothing was sent. */
const NO_CONNECTION = "timeout exceeded when trying to connect";
/** What a call of the system was for that failed. */
const CALLS = new Map<string, "unreachable" | "lost">([
  ["getaddrinfo", "unreachable"],
  ["connect", "unreachable"],
  ["read", "lost"],
  ["write", "lost"],
]);
/** SQLSTATEs with which a server takes no session. */
const NOT_TAKEN = /^(08001|08004|53300|57P03)$/;
/** What `pg` says of a connection that ended, and of one that it could not make in time. */
const LOST = /^Connection terminated|^Client .* is not queryable$/;
const NOT_MADE = "Connection terminated due to connection timeout";

/** Whether there was no connection, or it ended during a statement, which may have been carried out. */
export function connectionFailure(error: Error): "unreachable" | "lost" | undefined {
  if (error instanceof pg.DatabaseError) {
    if (NOT_TAKEN.test(error.code ?? "")) return "unreachable";
    return error.severity === "FATAL" || error.severity === "PANIC" ? "lost" : undefined;
  }
  if ("syscall" in error) return CALLS.get(String(error.syscall));
  if (error.message === NOT_MADE) return "unreachable";
  return LOST.test(error.message) ? "lost" : undefined;
}

function describeFailure(error: Error, isMutation: boolean) {
  const failure = connectionFailure(error);
  if (failure === undefined && error.message !== NO_CONNECTION) return undefined;
  return failure === "lost" && isMutation ? unknown : conflict;
}

/** Errors of the engine itself, when it plans or runs a query. */
function describeOwnError(error: Error): { message: string; code: string } | undefined {
  const isAboutQuery = isSafeError(error) || error.message.startsWith("Invalid cursor");
  return isAboutQuery ? { message: error.message, code: "INVALID_REQUEST" } : undefined;
}

function describeDatabaseError(
  error: pg.DatabaseError,
): { message: string; code?: string } | undefined {
  const sqlstate = error.code ?? "";
  const code = codeOfSqlstate(sqlstate);
  if (code !== undefined) return { message: error.message, code };
  if (CONFLICTS.includes(sqlstate)) return conflict;
  if (faultOfValues.test(sqlstate)) return { message: error.message, code: "INVALID_REQUEST" };
  if (sqlstate === STATEMENT_TIMEOUT) return { message: TOOK_TOO_LONG };
  if (sqlstate === TEMPORARY_FILES) {
    return { message: "The query needs more temporary space than the database server grants" };
  }
  return sqlstate === READ_ONLY ? { message: "Only queries are allowed here" } : undefined;
}
