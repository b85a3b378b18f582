import { codeOfSqlstate, errorCodes, isErrorCodeName } from "../database/error_codes.ts";
import type { ErrorCode, ErrorCodeName } from "../database/error_codes.ts";

/** One thing that is wrong with a request, and where: "quantity", "orderIds.3". */
export interface Issue {
  path: string;
  message: string;
}

/** The body of every answer that isn't a success. */
export interface ErrorBody {
  error: string;
  code?: string;
  issues?: Issue[];
  /** Of BATCH_REJECTED: which order was rejected, and what POST /orders would have answered. */
  index?: number;
  result?: { status: number; body: ErrorBody };
}

/** An answer that isn't a success. */
export interface Problem {
  status: number;
  body: ErrorBody;
  /** What it is counted as; not every body shows it. */
  code?: ErrorCodeName;
}

/** Thrown to end a request with this answer. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.body.error);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

/** The answer to a request that is rejected, with this text or with the code's own. */
export function rejection(name: ErrorCodeName, message?: string | null): Problem {
  const known: ErrorCode = errorCodes[name];
  const error = message ?? known.message;
  if (name === "INVALID_REQUEST") return invalidRequest([issueFromText(error)]);
  const body = known.codeShown ? { error, code: name } : { error };
  return { status: known.status, body, code: name };
}

/** The answers of several codes, each with the code's own text. */
export function rejections(...names: ErrorCodeName[]): Problem[] {
  return names.map((name) => rejection(name));
}

/** The answer to a command that the database rejected. Its code may be any text. */
export function rejectionByName(name: string, message: string | null): Problem {
  if (!isErrorCodeName(name)) throw new Error(`The database rejected with unknown code ${name}`);
  return rejection(name, message);
}

/** The answer for an error that SQL raised on purpose. Undefined for any other SQLSTATE. */
export function rejectionBySqlstate(
  sqlstate: string | undefined,
  message: string,
): Problem | undefined {
  const name = codeOfSqlstate(sqlstate);
  return name === undefined ? undefined : rejection(name, message);
}

/** The answer when a command may or may not have been carried out, with advice for the client. */
export function outcomeUnknown(advice: string): Problem {
  return rejection("OUTCOME_UNKNOWN", `The outcome is unknown; ${advice}`);
}

/** The answer to a malformed request. Its "error" is the first of the issues. */
export function invalidRequest(issues: Issue[]): Problem {
  const [first = { path: "", message: errorCodes.INVALID_REQUEST.message }] = issues;
  const error = first.path === "" ? first.message : `${first.path}: ${first.message}`;
  const code = "INVALID_REQUEST";
  return { status: 400, body: { error, code, issues }, code };
}

/** A problem with a text of its own and no code: its header has the general code of the status. */
export function plainProblem(status: number, error: string): Problem {
  return { status, body: { error } };
}

/** The database names the field that is at fault: "quantity: required". */
function issueFromText(text: string): Issue {
  const [, path = "", message = text] = /^(\w+): (.+)$/s.exec(text) ?? [];
  return { path, message };
}
