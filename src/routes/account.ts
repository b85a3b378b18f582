import type { Express } from "express";
import { getAccount } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { requireApiKey, userIdOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import type { Services } from "../services.ts";

/** The caller's own account. */
export function installAccount(app: Express, { authenticator, pool }: Services): void {
  app.get("/api/v1/me", requireApiKey(authenticator), async (_request, response) => {
    const userId = userIdOf(response);
    const account = await withRetries(pool, (client) => getAccount(client, userId), {
      repeatable: true,
    });
    sendJson(response, 200, account);
  });
}
