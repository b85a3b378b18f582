import type { Express, Response } from "express";
import { plainProblem, ProblemError } from "../errors.ts";
import { userIdOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { slugSchema } from "../schemas/catalogue.ts";
import { leaderboardQuerySchema, windowQuerySchema } from "../schemas/leaderboard.ts";
import type { Services } from "../services.ts";

/** Who has realised what, as of the last refresh. */
export function installLeaderboard(app: Express, { access, reads }: Services): void {
  app.get("/api/v1/leaderboard", access.publicRead, async (request, response) => {
    const { category, window, limit } = validate(leaderboardQuerySchema, request.query);
    refuseImpossible(category);
    const board = await reads.getLeaderboard({ category, window, most: limit });
    sendKnown(response, board, category);
  });

  app.get("/api/v1/leaderboard/summary", access.publicRead, async (request, response) => {
    const { category, window } = validate(windowQuerySchema, request.query);
    refuseImpossible(category);
    const summary = await reads.getLeaderboardSummary({ category, window });
    sendKnown(response, summary, category);
  });

  app.get("/api/v1/leaderboard/me", access.accountRead, async (request, response) => {
    const { category, window } = validate(windowQuerySchema, request.query);
    refuseImpossible(category);
    const userId = userIdOf(response);
    const standing = await reads.getOwnStanding({ userId, category, window });
    sendKnown(response, standing, category);
  });
}

/** What no category can be called is not looked for. */
function refuseImpossible(category: string): void {
  if (!slugSchema.safeParse(category).success) throw unknownCategory(category);
}

function sendKnown(response: Response, body: string | null, category: string): void {
  if (body === null) throw unknownCategory(category);
  sendJson(response, 200, body);
}

function unknownCategory(category: string): ProblemError {
  return new ProblemError(plainProblem(400, `Unknown category: ${category}`));
}
