import type { ErrorRequestHandler, Request, RequestHandler } from "express";
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
import { noteFailure, routeOf } from "./request_log.ts";
import { sendProblem } from "./respond.ts";

/** The end of the line for requests that no route took. */
export const notFound: RequestHandler = (_request, response) => {
  sendProblem(response, refusal("NOT_FOUND"));
};

/** Turns whatever a route threw into an answer. What nobody foresaw is a 500 and says no more. */
export const errorHandler: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const problem = problemOf(error, request);
  const isOutage = error instanceof DatabaseFailure;
  if (isOutage) noteFailure(response, { error, level: "warn" });
  else if (problem === undefined) noteFailure(response, { error, level: "error" });

  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendProblem(response, problem ?? plainProblem(500, "Internal server error"));
};

function problemOf(error: unknown, request: Request): Problem | undefined {
  const route = routeOf(request);
  // A command says whether it may have been carried out; a read has nothing to say.
  if (error instanceof DatabaseFailure && isRead(request.method, route)) {
    return plainProblem(503, "Service unavailable");
  }
  return problemOfCommand(error, request.method, route);
}

function isRead(method: string, route: string): boolean {
  return method === "GET" || method === "HEAD" || route === "/api/v1/orders/preview";
}

/** The answer to a command that ended with this error. Undefined: nobody foresaw it. */
export function problemOfCommand(
  error: unknown,
  method: string,
  route: string,
): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof DatabaseFailure) {
    return error.kind === "lost" ? outcomeUnknown(method, route) : refusal("CONFLICT_RETRY");
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
