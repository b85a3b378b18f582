import type { Express } from "express";
import { sendJson } from "../http/respond.ts";

/** Whether the process lives; it says nothing of the database. */
export function installHealth(app: Express): void {
  app.get("/healthz", (_request, response) => {
    sendJson(response, 200, '{"status":"ok"}');
  });
}
