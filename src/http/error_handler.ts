import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import pg from "pg";
import { DatabaseFailure } from "../database/failures.ts";
import type { RateLimit } from "./access.ts";
import { TOO_MANY_VALUES } from "./json_body.ts";
import {
  invalidRequest,
  outcomeUnknown,
  ProblemError,
  rejection,
  rejectionBySqlstate,
} from "./problems.ts";
import type { Problem } from "./problems.ts";
import { noteFailure } from "./request_log.ts";
import { sendProblem } from "./respond.ts";

/** Answers requests that no route took. */
export const notFound: RequestHandler = (_request, response) => {
  sendProblem(response, rejection("NOT_FOUND"));
};

/** Turns what a route threw into an answer. An unforeseen error is a 500 without details. */
export const errorHandler: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const problem = problemOf(error, request, response);
  const isOutage = error instanceof DatabaseFailure;
  if (isOutage) noteFailure(response, { error, level: "warn" });
  else if (problem === undefined) noteFailure(response, { error, level: "error" });

  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendProblem(response, problem ?? rejection("INTERNAL_ERROR"));
};

/** What decides how an outage is answered. */
interface RouteKind {
  rateLimit: RateLimit;
  whenOutcomeUnknown?: string;
}

/** Notes the route of a request, for the answer to an outage. */
export function noteRoute(response: Response, route: RouteKind): void {
  response.locals.route = route;
}

function problemOf(error: unknown, { method }: Request, response: Response): Problem | undefined {
  const route = response.locals.route as RouteKind | undefined;
  const isRead = method === "GET" || method === "HEAD" || route?.rateLimit === "read";
  // The client of a command must know whether it may have been carried out.
  if (error instanceof DatabaseFailure && isRead) return rejection("SERVICE_UNAVAILABLE");
  return problemOfCommand(error, route?.whenOutcomeUnknown);
}

/** The answer to a command that failed with this error. Undefined for an unforeseen error. */
export function problemOfCommand(
  error: unknown,
  whenOutcomeUnknown = "safe to retry",
): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof DatabaseFailure) {
    return error.kind === "lost" ? outcomeUnknown(whenOutcomeUnknown) : rejection("CONFLICT_RETRY");
  }
  if (error instanceof pg.DatabaseError) {
    return rejectionBySqlstate(error.code, error.message);
  }
  return problemOfHttpError(error);
}

/** The errors of the body parser have a `status` and a `type`. */
function problemOfHttpError(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !("status" in error && "type" in error)) return undefined;
  if (error.status === 413) return rejection("BODY_TOO_LARGE");
  const message =
    error.type === TOO_MANY_VALUES
      ? "The body must have at most 4,000 values"
      : "The body must be a JSON object, in UTF-8";
  return invalidRequest([{ path: "", message }]);
}
