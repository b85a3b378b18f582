import type { ErrorRequestHandler, Request, RequestHandler } from "express";
import pg from "pg";
import type { Logger } from "pino";
import { DatabaseFailure } from "../database/failures.ts";
import {
  invalidRequest,
  plainProblem,
  ProblemError,
  refusal,
  refusalBySqlstate,
} from "../errors.ts";
import type { Problem } from "../errors.ts";
import { requestIdOf } from "./request_log.ts";
import { sendProblem } from "./respond.ts";

/** Where the database gave no answer, the client may come back after this. */
const RETRY_AFTER_SECONDS = 1;

/** The end of the line for requests that no route took. */
export const notFound: RequestHandler = (_request, response) => {
  sendProblem(response, refusal("NOT_FOUND"));
};

/** Turns whatever a route threw into an answer. What nobody foresaw is a 500 and says no more. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const problem = problemOf(error, request);
    if (problem === undefined) {
      logger.error({ error, requestId: requestIdOf(response) }, "request failed");
    } else if (error instanceof DatabaseFailure) {
      logger.warn({ error, requestId: requestIdOf(response) }, "the database gave no answer");
      response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
    }
    if (response.headersSent) response.destroy();
    else sendProblem(response, problem ?? plainProblem(500, "Internal server error"));
  };
}

function problemOf(error: unknown, request: Request): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof DatabaseFailure) return problemOfFailure(error, request);
  if (error instanceof pg.DatabaseError) {
    return refusalBySqlstate(error.code ?? "", error.message);
  }
  return problemOfHttpError(error);
}

/** A command says whether it may have been carried out; a read has nothing to say. */
function problemOfFailure({ kind }: DatabaseFailure, request: Request): Problem {
  if (request.method === "GET" || request.method === "HEAD") {
    return plainProblem(503, "Service unavailable");
  }
  if (kind !== "lost") return refusal("CONFLICT_RETRY");
  // Only placing has a key to repeat it with; whatever else there is may simply be repeated.
  const message = request.method === "POST" ? undefined : "The outcome is unknown; safe to retry";
  return refusal("OUTCOME_UNKNOWN", message);
}

/** The errors of Express and its body parser have a `status`, those of the latter a `type`. */
function problemOfHttpError(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  if (error.status === 413) return plainProblem(413, "The body is larger than 64 KiB");
  if ("type" in error) {
    return invalidRequest([{ path: "", message: "The body must be JSON, in UTF-8" }]);
  }
  // A path with a percent sign that means nothing, where an id should be.
  return error.status === 400 ? plainProblem(400, "Invalid id") : undefined;
}
