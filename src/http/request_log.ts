import { randomUUID } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { callerOf } from "./authentication.ts";

/** A request that takes longer is worth a line of its own. */
const SLOW_MS = 1000;

/**
 * Gives every request an id, which the answer carries in X-Request-Id, and tells of it in the log
 * when it is over: a failure as an error, a slow or cut one as a warning, everything else as debug.
 * The line is made of chosen facts, none of which is a header, a body or a query.
 */
export function requestLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const requestId = randomUUID();
    response.locals.requestId = requestId;
    response.setHeader("X-Request-Id", requestId);
    const startedAt = performance.now();
    response.once("close", () => {
      const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
      const level = levelFor(response, durationMs);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](
        {
          requestId,
          method: request.method,
          route: routeOf(request),
          status: response.statusCode,
          // The client left before it had its answer.
          ...(response.writableFinished ? {} : { cut: true }),
          durationMs,
          userId: callerOf(response)?.userId,
        },
        "request",
      );
    });
    next();
  };
}

/** The id that the answer will carry. */
export function requestIdOf(response: Response): string {
  return String(response.locals.requestId);
}

function levelFor(response: Response, durationMs: number): "error" | "warn" | "debug" {
  if (response.statusCode >= 500) return "error";
  return durationMs > SLOW_MS || !response.writableFinished ? "warn" : "debug";
}

/** The route's pattern; of an unknown path only that it is one, for it may hold anything. */
function routeOf(request: Request): string {
  const route = request.route as { path: unknown } | undefined;
  return typeof route?.path === "string" ? request.baseUrl + route.path : "(none)";
}
