import { plainProblem } from "../errors.ts";
import {
  leaderboardQuerySchema,
  leaderboardSchema,
  leaderboardSummarySchema,
  ownStandingSchema,
  windowQuerySchema,
} from "../schemas/leaderboard.ts";
import type { Route } from "./route.ts";

const unknownCategory = plainProblem(400, "Unknown category: nowhere");

/** Who has realised what. */
export const leaderboardRoutes: Route[] = [
  {
    method: "get",
    path: "/api/v1/leaderboard",
    operationId: "getLeaderboard",
    tag: "Leaderboard",
    summary: "The traders who realised most in a window, best first",
    description: "`limit` counts ranks: traders who are not shown keep theirs.",
    auth: "none",
    query: leaderboardQuerySchema,
    answers: [{ status: 200, description: "The first ranks.", schema: leaderboardSchema }],
    problems: [unknownCategory],
  },
  {
    method: "get",
    path: "/api/v1/leaderboard/summary",
    operationId: "getLeaderboardSummary",
    tag: "Leaderboard",
    summary: "Sums and outstanding traders of a window",
    auth: "none",
    query: windowQuerySchema,
    answers: [{ status: 200, description: "The summary.", schema: leaderboardSummarySchema }],
    problems: [unknownCategory],
  },
  {
    method: "get",
    path: "/api/v1/leaderboard/me",
    operationId: "getOwnStanding",
    tag: "Leaderboard",
    summary: "The caller's own entry, complete even if it is not shown to others",
    auth: "key",
    query: windowQuerySchema,
    answers: [
      {
        status: 200,
        description: "The entry, or null when nothing was realised in the window.",
        schema: ownStandingSchema,
      },
    ],
    problems: [unknownCategory],
  },
];
