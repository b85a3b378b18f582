import type { Express } from "express";
import { sendJson } from "../http/respond.ts";
import type { Services } from "../services.ts";

/** Whether the process lives, and whether it is of use. */
export function installHealth(app: Express, { readiness, openDoors }: Services): void {
  app.get("/healthz", (_request, response) => {
    sendJson(response, 200, '{"status":"ok"}');
  });

  app.get("/readyz", async (_request, response) => {
    const reason = await readiness.check();
    if (reason !== undefined) {
      sendJson(response, 503, JSON.stringify({ status: "unavailable", reason }));
      return;
    }
    const warnings = (await openDoors.read()).map(({ name }) => name);
    sendJson(
      response,
      200,
      JSON.stringify({ status: "ok", ...(warnings.length > 0 && { warnings }) }),
    );
  });
}

/** The figures for monitoring. */
export function installMetrics(app: Express, { metrics }: Services): void {
  app.get("/metrics", async (_request, response) => {
    const text = await metrics.render();
    response.setHeader("Content-Type", metrics.registry.contentType);
    response.setHeader("Cache-Control", "no-store");
    response.end(text);
  });
}
