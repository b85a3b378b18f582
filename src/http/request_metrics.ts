import type { RequestHandler } from "express";
import { Counter, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import { isEventStream, routeOf, statusOf } from "./request_log.ts";
import { codesOf } from "./respond.ts";

/** What is counted of a request. */
export interface AnsweredRequest {
  method: string;
  /** The route's pattern, never the path. */
  route: string;
  status: number;
  seconds: number;
  /** The codes with which it, or a command in it, was rejected. */
  codes: readonly string[];
}

/** Counts one request. */
export type RequestCounter = (request: AnsweredRequest) => void;

/** Each is a line for each route. */
const LATENCY_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Counts requests that were answered. */
export function makeRequestCounter(registry: Registry): RequestCounter {
  const registers = [registry];
  const rejections = new Counter({
    name: "pgmarkets_rejections_total",
    help: "Requests that were rejected, by code",
    labelNames: ["code"],
    registers,
  });
  const durations = new Histogram({
    name: "pgmarkets_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its answer",
    labelNames: ["method", "route"],
    buckets: LATENCY_SECONDS,
    registers,
  });
  const answers = new Counter({
    name: "pgmarkets_http_requests_total",
    help: "Requests that were answered, by status",
    labelNames: ["method", "route", "status"],
    registers,
  });

  return ({ method, route, status, seconds, codes }) => {
    durations.observe({ method, route }, seconds);
    answers.inc({ method, route, status });
    for (const code of codes) rejections.inc({ code });
  };
}

/** Counts each request once it is over. Streams have no duration: they last until the client leaves. */
export function requestMetrics(count: RequestCounter): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once("close", () => {
      if (isEventStream(response)) return;
      count({
        method: request.method,
        route: routeOf(request),
        status: statusOf(response),
        seconds: (performance.now() - startedAt) / 1000,
        codes: codesOf(response),
      });
    });
    next();
  };
}
