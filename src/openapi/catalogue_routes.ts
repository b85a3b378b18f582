import { z } from "zod";
import {
  eventWithMarketsSchema,
  listCategoriesResponseSchema,
  listEventsResponseSchema,
  listMarketsQuerySchema,
  listMarketsResponseSchema,
  slugSchema,
} from "../schemas/catalogue.ts";
import { pageQuerySchema } from "../schemas/common.ts";
import { listTradesResponseSchema, marketSchema, orderBookSchema } from "../schemas/markets.ts";
import { categoryNotFound, eventNotFound, idParams, invalidId, marketNotFound } from "./route.ts";
import type { Route, RouteAnswer } from "./route.ts";

const slugParams = z.object({ slug: slugSchema });

function cached(description: string, schema: z.ZodType): RouteAnswer {
  return { status: 200, description, schema, headers: ["Cache-Control"] };
}

function ofMarket(description: string, schema: z.ZodType): RouteAnswer {
  return { status: 200, description, schema, headers: ["Cache-Control", "X-Market-Version"] };
}

/** What can be traded, by category and by event, and single markets. */
export const catalogueRoutes: Route[] = [
  {
    method: "get",
    path: "/api/v1/categories",
    operationId: "listCategories",
    tag: "Catalogue",
    summary: "The categories, in display order",
    auth: "none",
    answers: [cached("All categories.", listCategoriesResponseSchema)],
  },
  {
    method: "get",
    path: "/api/v1/categories/:slug/events",
    operationId: "listEvents",
    tag: "Catalogue",
    summary: "The events of a category, newest first",
    auth: "none",
    params: slugParams,
    query: pageQuerySchema,
    answers: [cached("A page of events.", listEventsResponseSchema)],
    problems: [categoryNotFound],
  },
  {
    method: "get",
    path: "/api/v1/categories/:slug/markets",
    operationId: "listMarkets",
    tag: "Catalogue",
    summary: "The markets of a category, newest first",
    auth: "none",
    params: slugParams,
    query: listMarketsQuerySchema,
    answers: [cached("A page of markets.", listMarketsResponseSchema)],
    problems: [categoryNotFound],
  },
  {
    method: "get",
    path: "/api/v1/events/:id",
    operationId: "getEvent",
    tag: "Catalogue",
    summary: "An event with its markets, in the order of their creation",
    auth: "none",
    params: idParams,
    answers: [cached("The event.", eventWithMarketsSchema)],
    problems: [invalidId, eventNotFound],
  },
  {
    method: "get",
    path: "/api/v1/markets/:id",
    operationId: "getMarket",
    tag: "Markets",
    summary: "A market with its best prices",
    auth: "none",
    params: idParams,
    answers: [ofMarket("The market.", marketSchema)],
    problems: [invalidId, marketNotFound],
  },
  {
    method: "get",
    path: "/api/v1/markets/:id/orderbook",
    operationId: "getOrderBook",
    tag: "Markets",
    summary: "The depth of a market's book, in YES prices",
    auth: "none",
    params: idParams,
    answers: [ofMarket("Bids fall in price, asks rise.", orderBookSchema)],
    problems: [invalidId, marketNotFound],
  },
  {
    method: "get",
    path: "/api/v1/markets/:id/trades",
    operationId: "listTrades",
    tag: "Markets",
    summary: "The trades of a market, newest first",
    auth: "none",
    params: idParams,
    query: pageQuerySchema,
    answers: [ofMarket("A page of trades.", listTradesResponseSchema)],
    problems: [invalidId, marketNotFound],
  },
];
