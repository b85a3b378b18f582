import pg from "pg";
import { isSafeError } from "postgraphile/grafast";
import { GraphQLError } from "postgraphile/graphql";
import { refusalBySqlstate } from "../errors.ts";

/** An error as its caller may see it. */
export interface ShownError {
  shown: GraphQLError;
  /** Nobody foresaw it: its caller is told no more than that, and the log everything. */
  unforeseen: boolean;
}

const STATEMENT_TIMEOUT = "57014";
const TEMPORARY_FILES = "53400";
const READ_ONLY = "25006";
/** Faults of the values that were given, and values that a function does not know what to do with. */
const faultOfValues = /^(22|0A)/;

/**
 * Refusals of the exchange come with their code, faults of the given values as INVALID_REQUEST;
 * GraphQL's own errors, which are about the query, pass as they are.
 */
export function showError(error: GraphQLError): ShownError {
  const cause = error.originalError;
  if (cause === undefined || cause instanceof GraphQLError)
    return { shown: error, unforeseen: false };
  const known = cause instanceof pg.DatabaseError ? tellDatabaseError(cause) : tellOwn(cause);
  const { message = "Internal server error", code } = known ?? {};
  const shown = new GraphQLError(message, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions: code === undefined ? null : { code },
  });
  return { shown, unforeseen: known === undefined };
}

/** Of what the engine itself objects to when it plans or runs a query. */
function tellOwn(error: Error): { message: string; code: string } | undefined {
  const isAboutQuery = isSafeError(error) || error.message.startsWith("Invalid cursor");
  return isAboutQuery ? { message: error.message, code: "INVALID_REQUEST" } : undefined;
}

function tellDatabaseError(
  error: pg.DatabaseError,
): { message: string; code?: string } | undefined {
  const sqlstate = error.code ?? "";
  const problem = refusalBySqlstate(sqlstate, error.message);
  if (problem !== undefined) {
    return { message: error.message, ...(problem.code !== undefined && { code: problem.code }) };
  }
  if (faultOfValues.test(sqlstate)) return { message: error.message, code: "INVALID_REQUEST" };
  if (sqlstate === STATEMENT_TIMEOUT) return { message: "The query took too long" };
  if (sqlstate === TEMPORARY_FILES) {
    return { message: "The query needs more temporary space than the database server grants" };
  }
  return sqlstate === READ_ONLY ? { message: "Only queries are allowed here" } : undefined;
}
