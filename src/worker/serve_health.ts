import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import { listen, writeText } from "../http_server.ts";
import { gaugeClockOffset, makeRegistry } from "../process_metrics.ts";
import type { WorkerHealth } from "./health.ts";

export interface HealthServerOptions {
  /** 0 picks a free port. */
  port: number;
  host: string;
  logger: Logger;
}

/** The HTTP server of a worker, for monitoring. */
export interface HealthServer {
  url: string;
  /** Why the worker is not ready, while it has not started. */
  notReadyBecause: (reason: string) => void;
  /** From now on `/readyz` and `/metrics` show this health. */
  handOver: (health: WorkerHealth) => void;
  close: () => Promise<void>;
}

/** How long closing waits for clients that do not read their answers. */
const CLOSING_TIMEOUT_MS = 1000;

/** Text is JSON unless it has another type. */
interface Answer {
  status: number;
  text: string;
  contentType?: string;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` of a worker. Listens at once: a worker that waits for
 * its database is alive and not ready.
 */
export async function serveHealth(options: HealthServerOptions): Promise<HealthServer> {
  const { port, host, logger } = options;
  let reason = "starting";
  let health: WorkerHealth | undefined;
  const registry = makeWorkerRegistry(() => health);

  function readiness(): Answer {
    if (health === undefined) return unavailable({ reason });
    const failing = health.failing();
    return failing.length === 0 ? ok : unavailable({ reason: "jobs_fail", failing });
  }

  async function answerTo({ method, url = "" }: IncomingMessage): Promise<Answer> {
    if (method !== "GET" && method !== "HEAD") return notFound;
    const path = url.replace(/\?.*$/s, "");
    if (path === "/healthz") return ok;
    if (path === "/readyz") return readiness();
    if (path !== "/metrics") return notFound;
    return { status: 200, text: await registry.metrics(), contentType: registry.contentType };
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    response.setHeader("X-Request-Id", requestId);
    const { status, text, contentType } = await answerTo(request).catch((error: unknown) => {
      logger.error({ error, requestId }, "a request for the worker's health failed");
      return failed;
    });
    writeText(response, status, text, contentType);
  }

  const server = await listen(
    (request, response) => {
      void respond(request, response);
    },
    { port, host, closingTimeoutMs: CLOSING_TIMEOUT_MS },
  );
  return {
    url: server.url,
    notReadyBecause: (because) => {
      reason = because;
    },
    handOver: (started) => {
      health = started;
    },
    close: server.close,
  };
}

const ok: Answer = { status: 200, text: '{"status":"ok"}' };
const notFound: Answer = { status: 404, text: '{"error":"Not found"}' };
const failed: Answer = { status: 500, text: '{"error":"Internal server error"}' };

function unavailable(why: { reason: string; failing?: string[] }): Answer {
  return { status: 503, text: JSON.stringify({ status: "unavailable", ...why }) };
}

/** The metrics of a worker. It has no health before it has started. */
export function makeWorkerRegistry(healthOf: () => WorkerHealth | undefined): Registry {
  const registry = makeRegistry();
  const registers = [registry];
  new Gauge({
    name: "pgmarkets_worker_failing",
    help: "1 for each job, or part of the queue, that failed when it was tried last",
    labelNames: ["what"],
    registers,
    collect() {
      this.reset();
      for (const what of healthOf()?.failing() ?? []) this.set({ what }, 1);
    },
  });
  new Gauge({
    name: "pgmarkets_worker_ready",
    help: "1 if the worker has started and nothing failed when it was tried last",
    registers,
    collect() {
      this.set(healthOf()?.failing().length === 0 ? 1 : 0);
    },
  });
  gaugeClockOffset(registry, () => healthOf()?.clockOffsetMs());
  return registry;
}
