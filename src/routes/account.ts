import type { Express } from "express";
import { userIdOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import type { Services } from "../services.ts";

/** The caller's own account. */
export function installAccount(app: Express, { access, reads }: Services): void {
  app.get("/api/v1/me", access.accountRead, async (_request, response) => {
    sendJson(response, 200, await reads.getAccount({ userId: userIdOf(response) }));
  });

  app.get("/api/v1/me/rate-limits", access.accountRead, async (_request, response) => {
    sendJson(response, 200, await reads.getRateLimits({ userId: userIdOf(response) }));
  });
}
