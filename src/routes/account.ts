import type { Express } from "express";
import { getAccount, getRateLimits } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { userIdOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import type { Services } from "../services.ts";

/** The caller's own account. */
export function installAccount(app: Express, { access, pool }: Services): void {
  app.get("/api/v1/me", access.accountRead, async (_request, response) => {
    const userId = userIdOf(response);
    const account = await withRetries(pool, (client) => getAccount(client, userId), {
      repeatable: true,
    });
    sendJson(response, 200, account);
  });

  app.get("/api/v1/me/rate-limits", access.accountRead, async (_request, response) => {
    const userId = userIdOf(response);
    const limits = await withRetries(pool, (client) => getRateLimits(client, userId), {
      repeatable: true,
    });
    sendJson(response, 200, limits);
  });
}
