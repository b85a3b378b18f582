import { z } from "zod";
import {
  centsSchema,
  marketIdsSchema,
  priceSchema,
  queryInteger,
  sideSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import { journalKindSchema } from "./history.ts";
import { marketStatusSchema, outcomeSchema } from "./markets.ts";
import { route } from "./route.ts";

/** What the pages show of shares and money, with each figure as the ledger has it. */

const positionSchema = z.strictObject({
  id: uuidSchema,
  marketId: uuidSchema,
  marketTitle: z.string(),
  side: sideSchema,
});

const sharesSchema = positionSchema.extend({
  costCents: centsSchema.meta({ description: "EUR-cents paid for the shares, without fees" }),
  buyFeesCents: centsSchema.meta({ description: "EUR-cents of fees paid with them" }),
});

const ownPositionSchema = sharesSchema
  .extend({
    quantity: z.int().min(1),
    marketStatus: marketStatusSchema,
    lastPrice: priceSchema.nullable().meta({
      description: "of the last trade, as a price of the own side; null before the first one",
    }),
    worthCents: centsSchema.meta({
      description: "the shares at that price; before the first trade what they had cost",
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
    quantity: z.int().min(0).meta({
      description: "0 if all were sold or merged before the market was resolved",
    }),
    outcome: outcomeSchema,
    payoutCents: centsSchema.meta({ description: "what the resolution paid for the shares" }),
    realisedCents: centsSchema.meta({
      description: "payout, and what selling and merging brought before, less cost and all fees",
    }),
    settledAt: timestampSchema,
  })
  .meta({ id: "SettledPosition" });

const closedPositionSchema = positionSchema
  .extend({
    marketStatus: marketStatusSchema,
    realisedCents: centsSchema.meta({
      description: "what selling, merging and converting brought, less cost and all fees",
    }),
  })
  .meta({ id: "ClosedPosition" });

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
    closed: z
      .array(closedPositionSchema)
      .max(200)
      .meta({
        description:
          "positions of which all shares are gone, with a profit or a loss, in markets that are not " +
          "resolved",
      }),
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

const daySchema = z.iso
  .date()
  .refine((text) => !text.startsWith("0000"), "must be between the years 1 and 9999");

const accountValueSchema = z.strictObject({
  data: z
    .array(
      z
        .strictObject({
          day: z.iso.date().meta({ description: "in UTC" }),
          balanceCents: centsSchema.meta({ description: "the cash" }),
          exitCents: centsSchema.meta({
            description:
              "the shares at the best bid for their side, however many they were, before fees; " +
              "those without a bid count 0",
          }),
          depositsCents: centsSchema.meta({
            description: "all that was paid in until then less all that was paid out",
          }),
        })
        .meta({ id: "AccountDay" }),
    )
    .max(366),
});

const value = route({
  method: "get",
  path: "/api/account/value",
  operationId: "getAccountValue",
  tag: "Account",
  summary: "What the account was worth at the end of each UTC day",
  description:
    "From a day to another, both included, oldest first: at most 366, without them the last 30. A " +
    "day gets its row from ten minutes after its end. Days before the account was made have none. " +
    "What is corrected or voided later changes no row.",
  auth: "token",
  rateLimit: "read",
  request: { query: z.object({ from: daySchema.optional(), to: daySchema.optional() }) },
  responses: { 200: { description: "The days.", schema: accountValueSchema } },
  handler: ({ query: { from: since, to: until }, userId }, { reads }) =>
    reads.getAccountValue({ userId, since, until }),
});

const yearStatementSchema = z
  .strictObject({
    year: z.int(),
    openingCents: centsSchema.meta({ description: "the cash when the year began" }),
    closingCents: centsSchema.meta({ description: "the cash when it ended, or the present one" }),
    feeCents: centsSchema.meta({
      description: "the fees of the year's trades, less those that voids gave back",
    }),
    realisedCents: centsSchema.meta({
      description:
        "profit or loss: proceeds and payouts less cost and all fees, by the time of the sale, " +
        "merge or resolution; a correction or void counts when it was made",
    }),
    movements: z
      .array(
        z.strictObject({
          kind: journalKindSchema,
          count: z.int().min(1),
          amountCents: centsSchema,
        }),
      )
      .meta({ description: "of cash, by kind; the opening balance with them is the closing one" }),
    markets: z.array(
      z.strictObject({
        marketId: uuidSchema,
        marketTitle: z.string(),
        feeCents: centsSchema,
        realisedCents: centsSchema,
      }),
    ),
  })
  .meta({ id: "YearStatement" });

const yearStatement = route({
  method: "get",
  path: "/api/account/year-statement",
  operationId: "getYearStatement",
  tag: "Account",
  summary: "Cash and results of a calendar year (UTC), by market and in total",
  description:
    "Each single movement is in `GET /api/v1/me/statement` with `from` and `to`, as JSON and CSV. " +
    "One at a time for each user: others wait, for some seconds at most.",
  auth: "token",
  ...{ rateLimit: "read", isLong: true },
  request: { query: z.object({ year: queryInteger(z.int().min(2000).max(9998)) }) },
  responses: { 200: { description: "The year.", schema: yearStatementSchema } },
  handler: ({ query: { year }, userId }, { reads }) => reads.getYearStatement({ userId, year }),
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

const conversionEvents = route({
  method: "get",
  path: "/api/account/conversion-events",
  operationId: "listConversionEvents",
  tag: "Account",
  summary: "The events of conversions and redemptions in the statement",
  auth: "token",
  rateLimit: "read",
  request: {
    query: z.object({
      entries: z
        .string()
        .regex(/^\d{1,15}(,\d{1,15}){0,199}$/, "must be ids of entries, with commas between them")
        .transform((text) => text.split(",").map(Number))
        .meta({
          override: { type: "string" },
          description: "ids of 1 to 200 entries of the statement, with commas between them",
        }),
    }),
  },
  responses: {
    200: {
      description: "The events, the newest entry first. Entries of other kinds are left out.",
      schema: z.strictObject({
        data: z.array(
          z.strictObject({
            id: z.int().min(1).meta({ description: "of the entry" }),
            eventId: uuidSchema,
            title: z.string(),
          }),
        ),
      }),
    },
  },
  handler: ({ query: { entries }, userId }, { reads }) =>
    reads.listConversionEvents({ userId, entryIds: entries }),
});

const undoneTrades = route({
  method: "get",
  path: "/api/account/undone-trades",
  operationId: "listUndoneTrades",
  tag: "Account",
  summary: "The own trades that operators undid, and markets that they undid as a whole",
  auth: "token",
  rateLimit: "read",
  request: { query: z.object({ markets: marketIdsSchema(MOST_TITLES) }) },
  responses: {
    200: {
      description: "The newest first: of each market the last 1,000 trades that were undone.",
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              marketId: uuidSchema,
              tradeId: uuidSchema
                .nullable()
                .meta({ description: "as in `GET /api/v1/me/fills`; null: the market as a whole" }),
              undoneAt: timestampSchema,
            })
            .meta({ id: "UndoneTrade" }),
        ),
      }),
    },
  },
  handler: ({ query: { markets }, userId }, { reads }) =>
    reads.listUndoneTrades({ userId, marketIds: markets }),
});

export const accountPositionRoutes = [
  ...[positions, value, yearStatement],
  ...[marketTitles, conversionEvents, undoneTrades],
];
