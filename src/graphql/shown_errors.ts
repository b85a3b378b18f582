import pg from "pg";
import { isSafeError } from "postgraphile/grafast";
import { GraphQLError } from "postgraphile/graphql";
import { codeOfSqlstate, errorCodes } from "../database/error_codes.ts";

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
 * Rejections of the exchange have their code, faults of the given values have INVALID_REQUEST.
 * GraphQL's own errors are about the query, and are shown as they are.
 */
export function showError(error: GraphQLError): ShownError {
  const cause = error.originalError;
  if (cause === undefined || cause instanceof GraphQLError)
    return { shown: error, unforeseen: false };
  const known =
    cause instanceof pg.DatabaseError ? describeDatabaseError(cause) : describeOwnError(cause);
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

/** What the pool of connections says when none was free in time: nothing was sent. */
const NO_CONNECTION = "timeout exceeded when trying to connect";

/** Errors of the engine itself, when it plans or runs a query. */
function describeOwnError(error: Error): { message: string; code: string } | undefined {
  if (error.message === NO_CONNECTION) return conflict;
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
