import { z } from "zod";
import { centsSchema, limitSchema, timestampSchema, uuidSchema } from "./common.ts";

const windowSchema = z.enum(["day", "week", "month", "ytd", "all"]).meta({
  description: "UTC days: today, the last 7, the last 30, the year to date, all",
});

/** Any text: one that names no category has an answer of its own. */
const categorySchema = z.string().meta({ description: "a category's slug, or all" });

/** The query of GET /leaderboard/summary and GET /leaderboard/me. */
export const windowQuerySchema = z.object({
  category: categorySchema.default("all"),
  window: windowSchema.default("all"),
});

/** The query of GET /leaderboard. */
export const leaderboardQuerySchema = windowQuerySchema.extend({ limit: limitSchema(100, 50) });

const rankSchema = z.int().min(1).meta({ description: "1 is the best" });

const rateSchema = z.number().min(0).max(1);

const profileSchema = z.strictObject({
  userId: uuidSchema,
  handle: z.string(),
  displayName: z.string(),
  avatarUrl: z.string().nullable(),
});

/** A trader in the leaderboard. */
const leaderboardEntrySchema = profileSchema
  .extend({
    rank: rankSchema,
    plCents: centsSchema.meta({ description: "EUR-cents realised" }),
    volCents: centsSchema.meta({ description: "EUR-cents that the settled positions had cost" }),
    winRate: rateSchema.meta({ description: "wins per settled position; 0 without one" }),
    roi: z.number().meta({ description: "plCents / volCents; 0 when volCents is 0" }),
    settledCount: z.int().min(0).meta({ description: "positions settled in the window" }),
  })
  .meta({ id: "LeaderboardEntry" });

/** In the place of a trader who is not shown. */
const privateEntrySchema = z
  .strictObject({ isPrivate: z.literal(true), rank: rankSchema })
  .meta({ id: "PrivateLeaderboardEntry" });

/** The answer of GET /leaderboard. */
export const leaderboardSchema = z
  .strictObject({
    category: categorySchema,
    window: windowSchema,
    entries: z.array(z.union([leaderboardEntrySchema, privateEntrySchema])).max(100),
  })
  .meta({ id: "Leaderboard" });

/** The answer of GET /leaderboard/summary. */
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
      .nullable(),
    snapshotAt: timestampSchema.nullable(),
  })
  .meta({ id: "LeaderboardSummary" });

/** The answer of GET /leaderboard/me. */
export const ownStandingSchema = z
  .strictObject({ self: leaderboardEntrySchema.nullable() })
  .meta({ id: "OwnStanding" });
