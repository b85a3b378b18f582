import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import { makeRegistry } from "../process_metrics.ts";
import type { WorkerHealth } from "./health.ts";

/** The HTTP server of a worker, for monitoring. */
export interface HealthServer {
  url: string;
  /** Why the worker is not ready, while it has not started. */
  refuseBecause: (reason: string) => void;
  /** From now on `/readyz` and `/metrics` show this health. */
  handOver: (health: WorkerHealth) => void;
  close: () => Promise<void>;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` of a worker. Listens at once: a worker that waits for
 * its database is alive and not ready.
 */
export async function serveHealth({
  port,
  host,
}: {
  port: number;
  host: string;
}): Promise<HealthServer> {
  let reason = "starting";
  let health: WorkerHealth | undefined;
  const registry = makeWorkerRegistry(() => health);
  async function answer(path: string): Promise<{ status: number; type: string; body: string }> {
    const json = "application/json; charset=utf-8";
    if (path === "/healthz") return { status: 200, type: json, body: '{"status":"ok"}' };
    if (path === "/readyz") {
      if (health === undefined) {
        const body = { status: "unavailable", reason };
        return { status: 503, type: json, body: JSON.stringify(body) };
      }
      const failing = health.failing();
      if (failing.length === 0) return { status: 200, type: json, body: '{"status":"ok"}' };
      const body = { status: "unavailable", reason: "jobs_fail", failing };
      return { status: 503, type: json, body: JSON.stringify(body) };
    }
    if (path === "/metrics") {
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    return { status: 404, type: json, body: '{"error":"Not found"}' };
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/\?.*$/s, "");
    void answer(path).then(({ status, type, body }) => {
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound.port}`,
    refuseBecause: (because) => {
      reason = because;
    },
    handOver: (started) => {
      health = started;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
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
  return registry;
}
