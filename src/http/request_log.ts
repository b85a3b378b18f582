import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { callerOf, staffIdOf, staffKeyIdOf, userIdOf } from "./authentication.ts";
import { problemSentBy, rejectionsWithin } from "./respond.ts";

/** A slower request is logged as a warning. */
const SLOW_MS = 1000;

/** Requests at level `warn` in a minute: any client can cause them. */
const WARNING_CAP = 100;
const MINUTE_MS = 60_000;

/**
 * Gives every request an id, sends it as X-Request-Id, and logs the request when it is over. Level
 * `error`: an unforeseen error. `warn`: the database did not answer, or the request was slow or cut.
 * `info`: a rejected command. `debug`: everything else, and warnings beyond a hundred in a minute. The
 * line has no headers, body or query.
 */
export function requestLog(logger: Logger): RequestHandler {
  const mayWarn = createWarningCap(logger);
  return (request, response, next) => {
    const requestId = randomUUID();
    response.setHeader("X-Request-Id", requestId);
    const startedAt = performance.now();
    response.once("close", () => {
      const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
      const wanted = levelFor(request, response, durationMs);
      const level = wanted === "warn" && !mayWarn() ? "debug" : wanted;
      if (!logger.isLevelEnabled(level)) return;
      logger[level](
        {
          requestId,
          method: request.method,
          route: routeOf(request),
          status: statusOf(response),
          // The client left before the end of its answer.
          ...(isCut(response) && { cut: true }),
          durationMs,
          userId: userIdOf(callerOf(response)),
          staffId: staffIdOf(callerOf(response)),
          staffKeyId: staffKeyIdOf(callerOf(response)),
          code: problemSentBy(response)?.code,
          codes: rejectionsWithin(response),
          error: failureOf(response)?.error,
        },
        "request",
      );
    });
    next();
  };
}

/** Says whether another warning may be logged; says at the end of a minute how many were not. */
function createWarningCap(logger: Logger): () => boolean {
  let warnings = 0;
  function endMinute(): void {
    const leftOut = warnings - WARNING_CAP;
    if (leftOut > 0) logger.warn({ leftOut }, "requests with warnings were not logged");
    warnings = 0;
  }
  return () => {
    if (warnings === 0) setTimeout(endMinute, MINUTE_MS).unref();
    warnings++;
    return warnings <= WARNING_CAP;
  };
}

/** Why a request failed. */
interface Failure {
  error: unknown;
  level: "error" | "warn";
}

/** Adds a failure to the request's line. A rejection is none. */
export function noteFailure(response: Response, failure: Failure): void {
  response.locals.failure = failure;
}

/** Whether the answer is an event stream. It lasts until its client leaves. */
export function isEventStream(response: ServerResponse): boolean {
  return response.getHeader("Content-Type") === "text/event-stream";
}

function isCut(response: ServerResponse): boolean {
  return !response.writableFinished && !isEventStream(response);
}

/** Of a client that left before its request was answered: nothing was sent. */
const CLIENT_LEFT = 499;

/** The status of the answer, or 499 if the client left before there was one. */
export function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : CLIENT_LEFT;
}

function failureOf(response: Response): Failure | undefined {
  return response.locals.failure as Failure | undefined;
}

/** Rejected commands are logged, so that support can find them by the id of the request. */
function isRejectedCommand({ method }: Request, response: Response): boolean {
  if (rejectionsWithin(response) !== undefined) return true;
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

/** The route's pattern. An unknown path is not logged, since it may hold anything. */
export function routeOf(request: Request): string {
  const route = request.route as { path: unknown } | undefined;
  return typeof route?.path === "string" ? request.baseUrl + route.path : "(none)";
}
