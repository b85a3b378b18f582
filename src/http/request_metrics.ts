import type { RequestHandler } from "express";
import type { Metrics } from "../metrics.ts";
import { isEventStream, routeOf } from "./request_log.ts";
import { problemSentBy } from "./respond.ts";

/** Counts each request once it is over. Streams, which end when their client leaves, have no time. */
export function requestMetrics(metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once("close", () => {
      if (isEventStream(response)) return;
      metrics.countRequest({
        method: request.method,
        route: routeOf(request),
        status: response.statusCode,
        seconds: (performance.now() - startedAt) / 1000,
        code: problemSentBy(response)?.code,
      });
    });
    next();
  };
}
