import { accountSchema, rateLimitsSchema } from "../schemas/account.ts";
import {
  listAccountOrdersQuerySchema,
  listAccountOrdersResponseSchema,
  portfolioSchema,
} from "../schemas/portfolio.ts";
import type { Route } from "./route.ts";

/** The caller's account, cash, shares and orders. */
export const portfolioRoutes: Route[] = [
  {
    method: "get",
    path: "/api/v1/me",
    operationId: "getAccount",
    tag: "Portfolio",
    summary: "The caller's account",
    auth: "key",
    answers: [{ status: 200, description: "The account.", schema: accountSchema }],
  },
  {
    method: "get",
    path: "/api/v1/me/rate-limits",
    operationId: "getRateLimits",
    tag: "Portfolio",
    summary: "How often the caller may ask",
    description: "It counts as a read. What is left now is in headers of trading requests.",
    auth: "key",
    answers: [{ status: 200, description: "The limits.", schema: rateLimitsSchema }],
  },
  {
    method: "get",
    path: "/api/v1/me/orders",
    operationId: "listAccountOrders",
    tag: "Portfolio",
    summary: "The caller's orders by pages, newest first",
    auth: "key",
    query: listAccountOrdersQuerySchema,
    answers: [
      { status: 200, description: "A page of orders.", schema: listAccountOrdersResponseSchema },
    ],
  },
  {
    method: "get",
    path: "/api/v1/me/portfolio",
    operationId: "getPortfolio",
    tag: "Portfolio",
    summary: "The caller's cash, positions and open orders",
    auth: "key",
    answers: [{ status: 200, description: "The portfolio.", schema: portfolioSchema }],
  },
];
