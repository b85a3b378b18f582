import { z } from "zod";
import {
  centsSchema,
  marketIdsSchema,
  priceSchema,
  sideSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import { marketStatusSchema, outcomeSchema } from "./markets.ts";
import { route } from "./route.ts";

/** What the pages show of shares and money, with each figure as the ledger has it. */

const sharesSchema = z.strictObject({
  id: uuidSchema,
  marketId: uuidSchema,
  marketTitle: z.string(),
  side: sideSchema,
  quantity: z.int().min(1),
  costCents: centsSchema.meta({ description: "EUR-cents paid for the shares, without fees" }),
  buyFeesCents: centsSchema.meta({ description: "EUR-cents of fees paid with them" }),
});

const ownPositionSchema = sharesSchema
  .extend({
    marketStatus: marketStatusSchema,
    lastPrice: priceSchema.nullable().meta({
      description: "of the last trade, as a price of the own side; null before the first one",
    }),
    worthCents: centsSchema.meta({
      description: "the shares at that price; at 50 before the first trade",
    }),
    unrealisedCents: centsSchema.meta({ description: "worth less cost and buy fees" }),
    exitQuantity: z.int().min(0).nullable().meta({
      description: "how many of the shares the book would buy now; null if the market is not open",
    }),
    exitCents: centsSchema.nullable().meta({
      description:
        "what a market order that sells them would pay now, after its fee, by the book without " +
        "own orders; null if the market is not open",
    }),
    realisedCents: centsSchema.meta({
      description: "what selling and merging brought in this position, less cost and all fees",
    }),
  })
  .meta({ id: "OwnPosition" });

const settledPositionSchema = sharesSchema
  .extend({
    outcome: outcomeSchema,
    payoutCents: centsSchema.meta({ description: "what the resolution paid for the shares" }),
    realisedCents: centsSchema.meta({
      description: "payout, and what selling and merging brought before, less cost and all fees",
    }),
    settledAt: timestampSchema,
  })
  .meta({ id: "SettledPosition" });

const ownPositionsSchema = z
  .strictObject({
    balance: centsSchema.meta({ description: "the cash" }),
    worthCents: centsSchema.meta({ description: "all shares that are held" }),
    accountValueCents: centsSchema.meta({ description: "cash and shares" }),
    unrealisedCents: centsSchema,
    realisedCents: centsSchema.meta({
      description:
        "of all positions ever; with `unrealisedCents` it is the account value less what was paid in",
    }),
    positions: z.array(ownPositionSchema),
    settled: z
      .array(settledPositionSchema)
      .max(200)
      .meta({ description: "positions of resolved markets, the one settled last first" }),
  })
  .meta({ id: "OwnPositions" });

const positions = route({
  method: "get",
  path: "/api/account/positions",
  operationId: "getOwnPositions",
  tag: "Account",
  summary: "Cash, shares and results, to the cent",
  description: "With `marketId` the lists have only its positions. The sums are always of all.",
  auth: "token",
  rateLimit: "read",
  request: { query: z.object({ marketId: uuidSchema.optional() }) },
  responses: { 200: { description: "The positions.", schema: ownPositionsSchema } },
  handler: ({ query: { marketId }, userId }, { reads }) =>
    reads.getOwnPositions({ userId, marketId }),
});

const MOST_TITLES = 200;

const marketTitles = route({
  method: "get",
  path: "/api/account/market-titles",
  operationId: "listMarketTitles",
  tag: "Account",
  summary: "The titles of markets that are known by their ids",
  auth: "token",
  rateLimit: "read",
  request: { query: z.object({ ids: marketIdsSchema(MOST_TITLES) }) },
  responses: {
    200: {
      description: "The titles, in no given order. Unknown markets are left out.",
      schema: z.strictObject({
        data: z.array(z.strictObject({ id: uuidSchema, title: z.string() })),
      }),
    },
  },
  handler: ({ query: { ids } }, { reads }) => reads.listMarketTitles({ marketIds: ids }),
});

export const accountPositionRoutes = [positions, marketTitles];
