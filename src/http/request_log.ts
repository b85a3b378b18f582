import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { callerOf } from "./authentication.ts";
import { problemSentBy } from "./respond.ts";

/** A request that takes longer is worth a line of its own. */
const SLOW_MS = 1000;

/**
 * Gives every request an id, which the answer carries in X-Request-Id, and tells of it in the log
 * when it is over: what nobody foresaw as an error, a database that gave no answer, a slow request
 * or one that was cut as a warning, a command that was rejected as info, everything else as debug.
 * The line is made of chosen facts, none of which is a header, a body or a query.
 */
export function requestLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const requestId = randomUUID();
    response.setHeader("X-Request-Id", requestId);
    const startedAt = performance.now();
    response.once("close", () => {
      const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
      const level = levelFor(request, response, durationMs);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](
        {
          requestId,
          method: request.method,
          route: routeOf(request),
          status: response.statusCode,
          // The client left before it had its answer.
          ...(isCut(response) && { cut: true }),
          durationMs,
          userId: callerOf(response)?.userId,
          code: problemSentBy(response)?.code,
          error: failureOf(response)?.error,
        },
        "request",
      );
    });
    next();
  };
}

/** Why a request could not be answered as it should have been. */
interface Failure {
  error: unknown;
  level: "error" | "warn";
}

/** Has the request's line tell of a failure, which is no rejection. */
export function noteFailure(response: Response, failure: Failure): void {
  response.locals.failure = failure;
}

/** Whether the answer is an event stream, which lasts until its client leaves. */
export function isEventStream(response: ServerResponse): boolean {
  return response.getHeader("Content-Type") === "text/event-stream";
}

function isCut(response: ServerResponse): boolean {
  return !response.writableFinished && !isEventStream(response);
}

function failureOf(response: Response): Failure | undefined {
  return response.locals.failure as Failure | undefined;
}

/** A caller who asks support why a command was rejected names the request by its id. */
function isRejectedCommand({ method }: Request, response: Response): boolean {
  const { status, code } = problemSentBy(response) ?? { status: 200 };
  return (
    status >= 400 &&
    code !== "TOO_MANY_REQUESTS" &&
    method !== "GET" &&
    method !== "HEAD" &&
    callerOf(response) !== undefined
  );
}

function levelFor(
  request: Request,
  response: Response,
  durationMs: number,
): "error" | "warn" | "info" | "debug" {
  const failure = failureOf(response);
  if (failure !== undefined) return failure.level;
  const isSlow = durationMs > SLOW_MS && !isEventStream(response);
  if (isSlow || isCut(response)) return "warn";
  return isRejectedCommand(request, response) ? "info" : "debug";
}

/** The route's pattern; of an unknown path only that it is one, for it may hold anything. */
export function routeOf(request: Request): string {
  const route = request.route as { path: unknown } | undefined;
  return typeof route?.path === "string" ? request.baseUrl + route.path : "(none)";
}
