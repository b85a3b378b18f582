import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import pg from "pg";
import { DatabaseFailure } from "../database/failures.ts";
import {
  invalidRequest,
  outcomeUnknown,
  plainProblem,
  ProblemError,
  refusal,
  refusalBySqlstate,
} from "../errors.ts";
import type { Problem } from "../errors.ts";
import { noteFailure } from "./request_log.ts";
import { sendProblem } from "./respond.ts";
import type { Route } from "./route.ts";

/** The end of the line for requests that no route took. */
export const notFound: RequestHandler = (_request, response) => {
  sendProblem(response, refusal("NOT_FOUND"));
};

/** Turns whatever a route threw into an answer. What nobody foresaw is a 500 and says no more. */
export const errorHandler: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const problem = problemOf(error, request, response);
  const isOutage = error instanceof DatabaseFailure;
  if (isOutage) noteFailure(response, { error, level: "warn" });
  else if (problem === undefined) noteFailure(response, { error, level: "error" });

  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendProblem(response, problem ?? plainProblem(500, "Internal server error"));
};

/** Notes which route a request came to, which says how an outage is answered. */
export function noteRoute(response: Response, route: Route): void {
  response.locals.route = route;
}

function problemOf(error: unknown, { method }: Request, response: Response): Problem | undefined {
  const route = response.locals.route as Route | undefined;
  const isRead = method === "GET" || method === "HEAD" || route?.rateLimit === "read";
  // A command says whether it may have been carried out; a read has nothing to say.
  if (error instanceof DatabaseFailure && isRead) return plainProblem(503, "Service unavailable");
  return problemOfCommand(error, route?.whenOutcomeUnknown);
}

/** The answer to a command that ended with this error. Undefined: the error was not foreseen. */
export function problemOfCommand(
  error: unknown,
  whenOutcomeUnknown = "safe to retry",
): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof DatabaseFailure) {
    return error.kind === "lost" ? outcomeUnknown(whenOutcomeUnknown) : refusal("CONFLICT_RETRY");
  }
  if (error instanceof pg.DatabaseError) {
    return refusalBySqlstate(error.code ?? "", error.message);
  }
  return problemOfHttpError(error);
}

/** The errors of the body parser have a `status` and a `type`. */
function problemOfHttpError(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !("status" in error && "type" in error)) return undefined;
  if (error.status === 413) return plainProblem(413, "The body is larger than 64 KiB");
  return invalidRequest([{ path: "", message: "The body must be JSON, in UTF-8" }]);
}
