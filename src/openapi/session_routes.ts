import { sessionTokenSchema } from "../schemas/sessions.ts";
import type { Route } from "./route.ts";

/** What the pages of the website need besides. */
export const sessionRoutes: Route[] = [
  {
    method: "get",
    path: "/api/auth/token",
    operationId: "createSessionToken",
    tag: "Website",
    summary: "A token that calls the rest as the session's user, for five minutes",
    auth: "session",
    answers: [{ status: 200, description: "The token.", schema: sessionTokenSchema }],
  },
];
