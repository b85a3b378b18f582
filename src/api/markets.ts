import { z } from "zod";
import type { MarketView } from "../database/calls.ts";
import { plainProblem } from "../http/problems.ts";
import {
  centsSchema,
  found,
  idParams,
  pageQuerySchema,
  paginated,
  priceSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import { route } from "./route.ts";

/** Public views of one market. */

/** Unlike the code MARKET_NOT_FOUND, which is for orders and a 400. */
export const marketNotFound = plainProblem(404, "Market not found");

const marketCaching = { freshSeconds: 10, staleSeconds: 30 };
const tradingCaching = { freshSeconds: 5, staleSeconds: 10 };

/** The state of a market. */
export const marketStatusSchema = z.enum(["open", "paused", "closed", "resolved"]);

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
    resolvedOutcome: z.enum(["yes", "no", "custom"]).nullable(),
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

const market = route({
  method: "get",
  path: "/api/v1/markets/:id",
  operationId: "getMarket",
  tag: "Markets",
  summary: "A market with its best prices",
  auth: "none",
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
  handler: async ({ params: { id } }, { reads }) =>
    answerWith(await reads.getMarket({ marketId: id })),
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
  auth: "none",
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
  handler: async ({ params: { id } }, { reads }) =>
    answerWith(await reads.getOrderBook({ marketId: id })),
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
  auth: "none",
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
  handler: async ({ params: { id }, query: { page, limit } }, { reads }) =>
    answerWith(await reads.listTrades({ marketId: id, page, pageSize: limit })),
});

function answerWith(view: MarketView | undefined) {
  const { version, body } = found(view, marketNotFound);
  return { status: 200, text: body, headers: { "X-Market-Version": String(version) } } as const;
}

export const marketRoutes = [market, orderBook, trades];
