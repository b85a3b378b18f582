import type { Express } from "express";
import { ProblemError, refusal } from "../errors.ts";
import { knownCallerOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import type { Services } from "../services.ts";

/** What the pages of the website need to call the rest as their user. */
export function installSessions(app: Express, { access, reads }: Services): void {
  app.get("/api/auth/token", access.sessionRead, async (_request, response) => {
    const caller = knownCallerOf(response);
    const token =
      "sessionId" in caller
        ? await reads.createSessionToken({ sessionId: caller.sessionId })
        : null;
    // The session may have ended since it was looked up.
    if (token === null) throw new ProblemError(refusal("UNAUTHORIZED"));
    sendJson(response, 200, token);
  });
}
