import { z } from "zod";
import { rejection } from "../http/problems.ts";
import { found, timestampSchema } from "./common.ts";
import { route } from "./route.ts";

/** A token by which pages of the website call the other routes as their user. */

const token = route({
  method: "get",
  path: "/api/auth/token",
  operationId: "createSessionToken",
  tag: "Website",
  summary: "A token that calls the rest as the session's user, for five minutes",
  description: "A program uses an API key instead. The token ends with its session.",
  auth: "session",
  rateLimit: "read",
  responses: {
    200: {
      description: "The token.",
      schema: z.strictObject({ token: z.string(), expiresAt: timestampSchema }),
    },
  },
  handler: async ({ caller: { sessionId }, address }, { reads }) => {
    const created = await reads.createSessionToken({ sessionId, address });
    // The session may have ended since it was looked up.
    return found(created, rejection("UNAUTHORIZED"));
  },
});

export const sessionRoutes = [token];
