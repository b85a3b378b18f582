import { z } from "zod";
import { centsSchema, pageQuerySchema, paginated, timestampSchema, uuidSchema } from "./common.ts";
import { orderSchema } from "./order_schemas.ts";
import { positionSchema } from "./positions.ts";
import { route } from "./route.ts";

/** The caller's account, cash, shares and orders. */

export const accountSchema = z
  .strictObject({
    id: uuidSchema,
    displayName: z.string(),
    email: z.string(),
    balance: centsSchema,
    createdAt: timestampSchema,
  })
  .meta({ id: "Account" });

const account = route({
  method: "get",
  path: "/api/v1/me",
  operationId: "getAccount",
  tag: "Portfolio",
  summary: "The caller's account",
  auth: "key",
  rateLimit: "read",
  responses: { 200: { description: "The account.", schema: accountSchema } },
  handler: ({ userId }, { reads }) => reads.getAccount({ userId }),
});

const rateLimitsSchema = z
  .strictObject({
    read: z.strictObject({
      limit: z.int().meta({ description: "requests in a rolling window" }),
      windowSeconds: z.int(),
    }),
    trading: z.strictObject({
      tier: z.enum(["standard", "elevated", "custom"]),
      requestsPerMinute: z.int().meta({ description: "sustained" }),
      burstCapacity: z.int().meta({ description: "requests back to back at most" }),
      expiresAt: timestampSchema
        .nullable()
        .meta({ description: "when the standard policy applies again; null if it does not" }),
    }),
  })
  .meta({ id: "RateLimits" });

const rateLimits = route({
  method: "get",
  path: "/api/v1/me/rate-limits",
  operationId: "getRateLimits",
  tag: "Portfolio",
  summary: "How often the caller may ask",
  description: "It counts as a read. What is left now is in headers of trading requests.",
  auth: "key",
  rateLimit: "read",
  responses: { 200: { description: "The limits.", schema: rateLimitsSchema } },
  handler: ({ userId }, { reads }) => reads.getRateLimits({ userId }),
});

const accountOrderSchema = orderSchema
  .pick({
    id: true,
    userId: true,
    marketId: true,
    marketTitle: true,
    side: true,
    price: true,
    quantity: true,
    filledQuantity: true,
    status: true,
    orderType: true,
    createdAt: true,
    expiresAt: true,
  })
  .meta({ id: "AccountOrder" });

export const listAccountOrdersResponseSchema = paginated(accountOrderSchema);

const accountOrders = route({
  method: "get",
  path: "/api/v1/me/orders",
  operationId: "listAccountOrders",
  tag: "Portfolio",
  summary: "The caller's orders by pages, newest first",
  auth: "key",
  description:
    "Those that are `filled` or `all`: one at a time for each user. Others wait, for some seconds " +
    "at most.",
  rateLimit: "read",
  isLong: ({ query: { status } }) => status !== "open",
  request: {
    query: pageQuerySchema.extend({
      status: z.enum(["open", "filled", "all"]).default("open").meta({
        description: "`open`: resting orders that have not expired",
      }),
    }),
  },
  responses: { 200: { description: "A page of orders.", schema: listAccountOrdersResponseSchema } },
  handler: ({ query: { status, page, limit }, userId }, { reads }) =>
    reads.listAccountOrders({ userId, status, page, pageSize: limit }),
});

const openOrderFields = accountOrderSchema
  .omit({ userId: true, expiresAt: true })
  .extend({ status: z.enum(["open", "partially_filled"]) });

/** An open order; a scheduled one also says when it is released. */
const openOrderSchema = z
  .union([
    openOrderFields,
    openOrderFields.extend({
      status: z.literal("scheduled"),
      releaseAt: orderSchema.shape.releaseAt.unwrap(),
      budgetCents: orderSchema.shape.budgetCents,
    }),
  ])
  .meta({ id: "OpenOrder" });

export const portfolioSchema = z
  .strictObject({
    balance: centsSchema,
    positions: z.array(positionSchema).meta({
      description: "those with shares, also of resolved markets, by the close time of their market",
    }),
    openOrders: z.array(openOrderSchema).max(200).meta({
      description: "scheduled and resting orders that have not expired, newest first",
    }),
  })
  .meta({ id: "Portfolio" });

const portfolio = route({
  method: "get",
  path: "/api/v1/me/portfolio",
  operationId: "getPortfolio",
  tag: "Portfolio",
  summary: "The caller's cash, positions and open orders",
  auth: "key",
  rateLimit: "read",
  responses: { 200: { description: "The portfolio.", schema: portfolioSchema } },
  handler: ({ userId }, { reads }) => reads.getPortfolio({ userId }),
});

export const portfolioRoutes = [account, rateLimits, accountOrders, portfolio];
