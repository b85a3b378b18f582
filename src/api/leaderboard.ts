import { z } from "zod";
import { plainProblem } from "../http/problems.ts";
import type { Problem } from "../http/problems.ts";
import {
  centsSchema,
  found,
  limitSchema,
  slugSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import { route } from "./route.ts";

/** The traders by what they have realised, as of the last refresh. */

const windowSchema = z.enum(["day", "week", "month", "ytd", "all"]).meta({
  description: "UTC days: today, the last 7, the last 30, the year to date, all",
});

/** Any text: an unknown category has an answer of its own. */
const categorySchema = z.string().meta({ description: "a category's slug, or all" });

const windowQuerySchema = z.object({
  category: categorySchema.default("all"),
  window: windowSchema.default("all"),
});

const rankSchema = z.int().min(1).meta({ description: "1 is the best" });

const rateSchema = z.number().min(0).max(1);

const profileSchema = z.strictObject({
  userId: uuidSchema,
  handle: z.string(),
  displayName: z.string(),
  avatarUrl: z.string().nullable(),
});

const entrySchema = profileSchema
  .extend({
    rank: rankSchema,
    plCents: centsSchema.meta({
      description: "EUR-cents realised by settlements, sells and merges, fees included",
    }),
    volCents: centsSchema.meta({ description: "EUR-cents that the settled positions had cost" }),
    winRate: rateSchema.meta({
      description: "settled positions that gained, per settled position; 0 without one",
    }),
    roi: z.number().meta({ description: "plCents / volCents; 0 when volCents is 0" }),
    settledCount: z.int().min(0).meta({
      description: "positions settled in the window; sells and merges are not counted",
    }),
  })
  .meta({ id: "LeaderboardEntry" });

/** In the place of a trader who is not shown. */
const privateEntrySchema = z
  .strictObject({ isPrivate: z.literal(true), rank: rankSchema })
  .meta({ id: "PrivateLeaderboardEntry" });

export const leaderboardSchema = z
  .strictObject({
    category: categorySchema,
    window: windowSchema,
    entries: z.array(z.union([entrySchema, privateEntrySchema])).max(100),
  })
  .meta({ id: "Leaderboard" });

const leaderboard = route({
  method: "get",
  path: "/api/v1/leaderboard",
  operationId: "getLeaderboard",
  tag: "Leaderboard",
  summary: "The traders who realised most in a window, best first",
  description:
    "As of a snapshot that is taken every minute, with the profiles of now. Equal profits are " +
    "ranked by `volCents`, then by the user's id. `limit` counts ranks: traders with a private " +
    "profile, or who opted out, keep theirs. A correction changes the day on which the market was " +
    "first resolved.",
  auth: "public",
  rateLimit: "read",
  request: { query: windowQuerySchema.extend({ limit: limitSchema(100, 50) }) },
  responses: { 200: { description: "The first ranks.", schema: leaderboardSchema } },
  problems: [unknownCategory("nowhere")],
  handler: ({ query: { category, window, limit } }, { publicReads }) =>
    ofCategory(category, () => publicReads.getLeaderboard({ category, window, most: limit })),
});

export const leaderboardSummarySchema = z
  .strictObject({
    category: categorySchema,
    window: windowSchema,
    traderCount: z.int().min(0).meta({
      description: "public traders with a position settled in the window",
    }),
    totalVolumeCents: centsSchema.meta({ description: "EUR-cents settled" }),
    openInterestCents: centsSchema.meta({ description: "escrow of the unresolved markets" }),
    topTrader: profileSchema.extend({ plCents: centsSchema }).nullable(),
    biggestSingleWin: profileSchema
      .extend({
        marketId: uuidSchema,
        marketTitle: z.string(),
        eventId: uuidSchema.nullable(),
        eventTitle: z.string().nullable(),
        plCents: centsSchema,
      })
      .nullable(),
    medianTrader: z
      .strictObject({
        plCents: centsSchema,
        winRate: rateSchema.nullable(),
        settledCount: z.int().min(0),
      })
      .nullable()
      .meta({ description: "the middle of the ranking, of two the lower" }),
    snapshotAt: timestampSchema.nullable(),
  })
  .meta({ id: "LeaderboardSummary" });

const summary = route({
  method: "get",
  path: "/api/v1/leaderboard/summary",
  operationId: "getLeaderboardSummary",
  tag: "Leaderboard",
  summary: "Sums and outstanding traders of a window",
  description:
    "`topTrader`, `biggestSingleWin` and `traderCount` are of public traders, the rest of all. " +
    "Before the first snapshot all is 0 or null.",
  auth: "public",
  rateLimit: "read",
  request: { query: windowQuerySchema },
  responses: { 200: { description: "The summary.", schema: leaderboardSummarySchema } },
  problems: [unknownCategory("nowhere")],
  handler: ({ query: { category, window } }, { publicReads }) =>
    ofCategory(category, () => publicReads.getLeaderboardSummary({ category, window })),
});

export const ownStandingSchema = z
  .strictObject({ self: entrySchema.nullable() })
  .meta({ id: "OwnStanding" });

const ownStanding = route({
  method: "get",
  path: "/api/v1/leaderboard/me",
  operationId: "getOwnStanding",
  tag: "Leaderboard",
  summary: "The caller's own entry, complete even if it is not shown to others",
  auth: "key",
  rateLimit: "read",
  request: { query: windowQuerySchema },
  responses: {
    200: {
      description: "The entry, or null when nothing was realised in the window.",
      schema: ownStandingSchema,
    },
  },
  problems: [unknownCategory("nowhere")],
  handler: ({ query: { category, window }, userId }, { reads }) =>
    ofCategory(category, () => reads.getOwnStanding({ userId, category, window })),
});

/** Reads for a category. A text that is no slug is not looked up. */
async function ofCategory(category: string, read: () => Promise<string | null>): Promise<string> {
  const isSlug = slugSchema.safeParse(category).success;
  return found(isSlug ? await read() : null, unknownCategory(category));
}

function unknownCategory(category: string): Problem {
  return plainProblem(400, `Unknown category: ${category}`);
}

export const leaderboardRoutes = [leaderboard, summary, ownStanding];
