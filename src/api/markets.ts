import { z } from "zod";
import type { MarketView } from "../database/calls.ts";
import { plainProblem } from "../http/problems.ts";
import {
  categoryNotFound,
  centsSchema,
  found,
  idParams,
  marketIdsSchema,
  momentSchema,
  pageQuerySchema,
  paginated,
  priceSchema,
  slugSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import { version } from "../version.ts";
import { route } from "./route.ts";

/** Public views of one market. */

/** Unlike the code MARKET_NOT_FOUND, which is for orders and a 400. */
export const marketNotFound = plainProblem(404, "Market not found");

const marketCaching = { freshSeconds: 10, staleSeconds: 30 };
const tradingCaching = { freshSeconds: 5, staleSeconds: 10 };

/** The state of a market. */
export const marketStatusSchema = z.enum(["open", "paused", "closed", "resolved"]);

/** How a market is resolved. */
export const outcomeSchema = z.enum(["yes", "no", "custom"]);

/** Words that a list is searched for. */
export const searchWordsSchema = z
  .string()
  .max(200)
  .regex(/^\P{Cc}*$/u, "must be one line of text");

/** A market in a list. */
export const listedMarketSchema = z
  .strictObject({
    id: uuidSchema,
    title: z.string(),
    description: z.string(),
    category: z.string().meta({ description: "category slug" }),
    status: marketStatusSchema.meta({
      description: "a market past its `closeTime` takes no orders, whatever its status",
    }),
    eventId: uuidSchema.nullable(),
    lastTradePrice: priceSchema.nullable().meta({ description: "YES price" }),
    yesVolume: centsSchema.min(0).meta({ description: "EUR-cents: the sum of shares x YES price" }),
    noVolume: centsSchema.min(0).meta({ description: "EUR-cents: the sum of shares x NO price" }),
    closeTime: timestampSchema.nullable(),
    createdAt: timestampSchema,
    resolvedOutcome: outcomeSchema.nullable(),
    thumbnailId: uuidSchema.nullable(),
    thumbnailUrl: z.string().nullable(),
  })
  .meta({ id: "ListedMarket" });

export const marketSchema = listedMarketSchema
  .extend({
    bestBid: priceSchema.nullable().meta({ description: "YES price; null when there is no bid" }),
    bestAsk: priceSchema.nullable().meta({ description: "YES price; null when there is no ask" }),
  })
  .meta({ id: "Market" });

const markets = route({
  method: "get",
  path: "/api/v1/markets",
  operationId: "searchMarkets",
  tag: "Markets",
  summary: "The markets of all categories, by words",
  description:
    "A market is listed when its title, together with that of its event, has all words, as the " +
    "beginning of a word or in another form of it.",
  auth: "public",
  rateLimit: "read",
  request: {
    query: pageQuerySchema.extend({
      query: searchWordsSchema.optional().meta({
        description: "words; unless given, all markets",
      }),
      category: slugSchema.optional(),
      status: z.enum(["open", "closed", "all"]).default("open"),
      sort: z.enum(["volume", "newest", "closing"]).default("volume"),
    }),
  },
  responses: {
    200: {
      description: "A page of markets. `closed` has those that are resolved, too.",
      schema: paginated(listedMarketSchema),
      caching: marketCaching,
    },
  },
  problems: [categoryNotFound],
  handler: async ({ query: { limit, ...query } }, { publicReads }) => {
    const page = await publicReads.listMarkets({ ...query, pageSize: limit });
    return found(page, categoryNotFound);
  },
});

const market = route({
  method: "get",
  path: "/api/v1/markets/:id",
  operationId: "getMarket",
  tag: "Markets",
  summary: "A market with its best prices",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: {
      description: "The market.",
      schema: marketSchema,
      caching: marketCaching,
      headers: ["X-Market-Version"],
    },
  },
  problems: [marketNotFound],
  handler: async ({ params: { id } }, { publicReads }) =>
    answerWith(await publicReads.getMarket({ marketId: id })),
});

export const chanceSchema = z
  .strictObject({
    chance: z.number().min(1).max(99).nullable().meta({
      description: "of YES, in percent and halves of it; null if nothing says it",
    }),
    chanceKind: z.enum(["mid", "last", "none"]).meta({
      description:
        "mid: the middle of bid and ask, which are at most 10 cents apart; last: the price of the last trade, held between bid and ask; none: neither is there, or the market is resolved",
    }),
  })
  .meta({ id: "Chance" });

const chance = route({
  method: "get",
  path: "/api/v1/markets/:id/chance",
  operationId: "getChance",
  tag: "Markets",
  summary: "What the prices of a market say of YES",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: {
      description: "The chance.",
      schema: chanceSchema,
      caching: tradingCaching,
      headers: ["X-Market-Version"],
    },
  },
  problems: [marketNotFound],
  handler: async ({ params: { id } }, { publicReads }) =>
    answerWith(await publicReads.getChance({ marketId: id })),
});

/** The unfilled quantity at one price. */
export const levelSchema = z
  .strictObject({
    price: priceSchema,
    quantity: z.int().min(1).meta({ description: "unfilled shares, without expired orders" }),
  })
  .meta({ id: "OrderBookLevel" });

export const orderBookSchema = z.strictObject({
  bids: z.array(levelSchema).meta({ description: "for YES, the highest price first" }),
  asks: z.array(levelSchema).meta({ description: "of YES, the lowest price first" }),
});

const orderBook = route({
  method: "get",
  path: "/api/v1/markets/:id/orderbook",
  operationId: "getOrderBook",
  tag: "Markets",
  summary: "The depth of a market's book, in YES prices",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: {
      description: "Bids fall in price, asks rise.",
      schema: orderBookSchema,
      caching: tradingCaching,
      headers: ["X-Market-Version"],
    },
  },
  problems: [marketNotFound],
  handler: async ({ params: { id } }, { publicReads }) =>
    answerWith(await publicReads.getOrderBook({ marketId: id })),
});

export const listTradesResponseSchema = paginated(
  z
    .strictObject({
      id: uuidSchema,
      price: priceSchema.meta({ description: "YES price" }),
      quantity: z.int().min(1),
      createdAt: timestampSchema,
    })
    .meta({ id: "Trade" }),
);

const trades = route({
  method: "get",
  path: "/api/v1/markets/:id/trades",
  operationId: "listTrades",
  tag: "Markets",
  summary: "The trades of a market, newest first",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams, query: pageQuerySchema },
  responses: {
    200: {
      description: "A page of trades.",
      schema: listTradesResponseSchema,
      caching: tradingCaching,
      headers: ["X-Market-Version"],
    },
  },
  problems: [marketNotFound],
  handler: async ({ params: { id }, query: { page, limit } }, { publicReads }) =>
    answerWith(await publicReads.listTrades({ marketId: id, page, pageSize: limit })),
});

const candlesResponseSchema = z.strictObject({
  data: z
    .array(
      z
        .strictObject({
          start: timestampSchema,
          open: priceSchema,
          high: priceSchema,
          low: priceSchema,
          close: priceSchema,
          volume: z.int().min(1).meta({ description: "shares" }),
          trades: z.int().min(1),
        })
        .meta({ id: "Candle" }),
    )
    .max(1000),
});

const candles = route({
  method: "get",
  path: "/api/v1/markets/:id/candles",
  operationId: "listCandles",
  tag: "Markets",
  summary: "The prices of a market's trades by minute, hour or day, in YES prices",
  description:
    "Oldest first, at most the newest 1,000. Intervals without a trade are left out. The one in " +
    "which `from` lies is included; `to` is not.",
  auth: "public",
  rateLimit: "read",
  request: {
    params: idParams,
    query: z.object({
      interval: z.enum(["1m", "1h", "1d"]).default("1h"),
      from: momentSchema.optional(),
      to: momentSchema.optional(),
    }),
  },
  responses: {
    200: {
      description: "The candles.",
      schema: candlesResponseSchema,
      caching: tradingCaching,
      headers: ["X-Market-Version"],
    },
  },
  problems: [marketNotFound],
  handler: async ({ params: { id }, query: { interval, from, to } }, { publicReads }) =>
    answerWith(await publicReads.listCandles({ marketId: id, interval, since: from, until: to })),
});

/** Prices of days: a minute later they look the same. */
const sparklineCaching = { freshSeconds: 60, staleSeconds: 300 };

const sparklines = route({
  method: "get",
  path: "/api/v1/sparklines",
  operationId: "listSparklines",
  tag: "Markets",
  summary: "The prices of the last seven days of several markets, for small charts",
  description: "Unknown markets are left out.",
  auth: "public",
  rateLimit: "read",
  request: { query: z.object({ markets: marketIdsSchema(100) }) },
  responses: {
    200: {
      description: "A line for each market, by id.",
      schema: z.strictObject({
        from: timestampSchema.meta({ description: "when the first step begins" }),
        stepSeconds: z.int().min(1).meta({ description: "all steps are as long" }),
        data: z.array(
          z
            .strictObject({
              marketId: uuidSchema,
              prices: z.array(priceSchema.nullable()).meta({
                description:
                  "the last YES price at the end of each step, the oldest first; null before the " +
                  "first trade; the last one is the price now",
              }),
            })
            .meta({ id: "Sparkline" }),
        ),
      }),
      caching: sparklineCaching,
    },
  },
  handler: ({ query }, { publicReads }) => publicReads.listSparklines({ marketIds: query.markets }),
});

const sourceUrlSchema = z.string().nullable().meta({
  description: "the source of the outcome, an http or https address",
});

export const rulesSchema = z
  .strictObject({
    feeRateBps: z.int().min(0).meta({ description: "taker fee: basis points of the formula" }),
    live: z.boolean().meta({ description: "an order placed now waits before it is matched" }),
    liveDelayMs: z.int().min(0).nullable().meta({ description: "null: not live-traded" }),
    liveFrom: timestampSchema.nullable().meta({ description: "null: at any time" }),
    liveUntil: timestampSchema.nullable().meta({ description: "exclusive; null: at any time" }),
    minPrice: priceSchema,
    maxPrice: priceSchema,
    maxQuantity: z.int().meta({ description: "shares of an order" }),
    version: z.int().min(0).meta({ description: "of the market" }),
    resolutionRules: z.string().nullable().meta({ description: "what decides the outcome" }),
    sourceUrl: sourceUrlSchema,
  })
  .meta({ id: "MarketRules" });

const rules = route({
  method: "get",
  path: "/api/v1/markets/:id/rules",
  operationId: "getMarketRules",
  tag: "Markets",
  summary:
    "The fee, the live delay and the bounds of orders in force, and what decides the outcome",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: { description: "The rules.", schema: rulesSchema, headers: ["X-Market-Version"] },
  },
  problems: [marketNotFound],
  handler: async ({ params: { id } }, { publicReads }) =>
    answerWith(await publicReads.getMarketRules({ marketId: id })),
});

const notResolved = plainProblem(404, "The market is not resolved");

const resolutionEntrySchema = z
  .strictObject({
    at: timestampSchema,
    kind: z.enum(["resolved", "corrected", "voided"]),
    outcome: outcomeSchema.meta({ description: "of a void: custom, which means nothing" }),
    yesPayoutCents: z.int().min(0).max(100).meta({
      description: "EUR-cents a YES share; of a void it means nothing",
    }),
    reason: z.string().nullable().meta({ description: "of a correction or a void" }),
    evidence: z.string().nullable().meta({ description: "what the outcome rests on" }),
  })
  .meta({ id: "ResolutionEntry" });

const resolution = route({
  method: "get",
  path: "/api/v1/markets/:id/resolution",
  operationId: "getMarketResolution",
  tag: "Markets",
  summary: "How a market was resolved, and what its shares paid",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: {
      description: "The resolution that holds.",
      schema: z
        .strictObject({
          outcome: outcomeSchema,
          yesPayoutCents: z.int().min(0).max(100).meta({ description: "EUR-cents a YES share" }),
          noPayoutCents: z.int().min(0).max(100).meta({ description: "EUR-cents a NO share" }),
          resolvedAt: timestampSchema,
          correctedAt: timestampSchema.nullable().meta({ description: "null: never" }),
          voidedAt: timestampSchema.nullable().meta({
            description:
              "when all trades were undone: then outcome and payouts mean nothing, and everybody " +
              "got back what they had put in; null: never",
          }),
          evidence: z.string().nullable().meta({ description: "of the resolution that holds" }),
          sourceUrl: sourceUrlSchema,
          disputeUntil: timestampSchema.nullable().meta({
            description:
              "until when users who held shares may dispute the resolution that holds, also when that is past; null: they cannot",
          }),
          history: z.array(resolutionEntrySchema).meta({ description: "oldest first" }),
        })
        .meta({ id: "MarketResolution" }),
    },
  },
  problems: [marketNotFound, notResolved],
  handler: async ({ params: { id: marketId } }, { publicReads }) => {
    const text = await publicReads.getMarketResolution({ marketId });
    if (text === null) found(await publicReads.getMarketRules({ marketId }), marketNotFound);
    return found(text, notResolved);
  },
});

export const exchangeSchema = z.strictObject({
  status: z.enum(["trading", "paused"]),
  reason: z.string().nullable().meta({ description: "why trading is paused" }),
  time: timestampSchema.meta({ description: "of the database, which decides what is due" }),
  version: z.string().meta({ description: "of pgmarkets" }),
});

const exchange = route({
  method: "get",
  path: "/api/v1/exchange",
  operationId: "getExchange",
  tag: "Markets",
  summary: "Whether the exchange trades, and its time",
  auth: "public",
  rateLimit: "read",
  responses: { 200: { description: "The exchange.", schema: exchangeSchema } },
  handler: (_call, { publicReads }) => publicReads.getExchange({ version }),
});

function answerWith(view: MarketView | undefined) {
  const { version, body } = found(view, marketNotFound);
  return { status: 200, text: body, headers: { "X-Market-Version": String(version) } } as const;
}

export const marketRoutes = [
  markets,
  market,
  chance,
  orderBook,
  trades,
  candles,
  sparklines,
  rules,
  resolution,
  exchange,
];
