import { z } from "zod";
import type { OrderRequest } from "../database/calls.ts";
import { invalidRequest, ProblemError, rejection, rejections } from "../http/problems.ts";
import { cancelAllRoutes } from "./cancel_all.ts";
import { commandAnswer } from "./idempotency.ts";
import type { Idempotency } from "./idempotency.ts";
import {
  acceptedBody,
  balanceSchema,
  centsSchema,
  errorCodeSchema,
  found,
  idParams,
  isGiven,
  momentSchema,
  orderTypeSchema,
  priceSchema,
  quantitySchema,
  sideSchema,
  timeInForceSchema,
  uuidSchema,
} from "./common.ts";
import {
  changedOrderSchema,
  fillSchema,
  orderDetailSchema,
  orderSchema,
  orderStatusSchema,
  placedOrderSchema,
} from "./order_schemas.ts";
import { route } from "./route.ts";

/** Placing, amending, cancelling and reading single orders of the caller. */

/** Why a new order, or a replacement, may be rejected. */
const tradeProblems = rejections(
  "MARKET_NOT_OPEN",
  "SELF_TRADE_BLOCKED",
  "POST_ONLY_WOULD_CROSS",
  "INSUFFICIENT_LIQUIDITY",
  "INSUFFICIENT_BALANCE",
  "SELF_EXCLUDED",
  "ACCOUNT_FROZEN",
  "LOSS_LIMIT",
  "LIMITS_SETUP_REQUIRED",
  "TRADING_PAUSED",
  "DEAD_MAN_FIRED",
);

/** What to do when it is not known whether an order was placed. */
export const whenPlacingUnknown =
  "retry with the same idempotency key; without one read your order history first";

const given = { type: "integer" as const };
const notGiven = { type: "null" as const };

/**
 * Which fields an order needs, for the OpenAPI document: what `placeOrderSchema` refines. These are
 * conditions, since generators of clients ignore them, and turn alternatives into unions.
 */
const neededFields = {
  dependentSchemas: {
    postOnly: {
      if: { properties: { postOnly: { const: true } } },
      then: {
        properties: {
          price: given,
          budgetCents: notGiven,
          timeInForce: { enum: ["gtc" as const, null] },
        },
        required: ["price"],
      },
    },
  },
  if: { properties: { orderType: { const: "sell" } }, required: ["orderType"] },
  then: { properties: { quantity: given, budgetCents: notGiven }, required: ["quantity"] },
  else: {
    if: { properties: { budgetCents: given }, required: ["budgetCents"] },
    then: { properties: { quantity: notGiven } },
    else: {
      properties: { quantity: given, price: { type: ["integer" as const, "null" as const] } },
      required: ["price", "quantity"],
    },
  },
};

/** An order to place. Null is the same as absent, except for the price of a buy. */
export const placeOrderSchema = z
  .object({
    marketId: uuidSchema,
    side: sideSchema,
    price: priceSchema.nullish().meta({
      description:
        "EUR-cents a share: the most a buy pays, the least a sell takes. Null is a market order. " +
        "A buy without `budgetCents` must have the field.",
    }),
    quantity: quantitySchema.nullish().meta({
      description: "shares; of a sell, and of a buy without `budgetCents`",
    }),
    budgetCents: z.int().min(1).max(1_000_000).nullish().meta({
      description:
        "of a buy, instead of `quantity`: buys whole shares for at most this, fee included",
    }),
    orderType: orderTypeSchema.nullish().meta({ default: "buy" }),
    timeInForce: timeInForceSchema.nullish().meta({
      default: "gtc",
      description:
        "`gtc` may rest; `ioc` cancels what is not filled at once; `fok` is filled at once as a whole " +
        "or rejected with `INSUFFICIENT_LIQUIDITY`. Market and budget orders are `ioc` or `fok`.",
    }),
    selfTrade: z
      .enum(["reject", "cancel_resting"])
      .nullish()
      .meta({
        default: "reject",
        description:
          "if the order would match own resting orders: `reject` rejects it, `cancel_resting` cancels " +
          "them with `self_trade` and lists them in `cancelledOrders`",
      }),
    idempotencyKey: uuidSchema.nullish().meta({
      description: "the same key of a user within 24 hours is the same order",
    }),
    expiresAt: momentSchema.nullish().meta({
      description: "with seconds and zone, in the future",
    }),
    postOnly: z.boolean().nullish().meta({
      default: false,
      description:
        "rejects the order if it would match at once; needs a price and `gtc`, and no budget",
    }),
  })
  .superRefine((order, context) => {
    const reject = (field: keyof typeof order, message: string): void => {
      context.addIssue({ code: "custom", path: [field], message });
    };
    const isCounted = isGiven(order.quantity);
    const isBudget = isGiven(order.budgetCents);
    if (order.orderType === "sell") {
      if (isBudget) reject("budgetCents", "not for a sell");
      if (!isCounted) reject("quantity", "required for a sell");
    } else {
      if (isBudget && isCounted) reject("budgetCents", "excludes quantity");
      if (!isBudget && !isCounted) reject("quantity", "required without budgetCents");
      if (!isBudget && order.price === undefined) {
        reject("price", "required without budgetCents; null places a market order");
      }
    }
    const mayRest = isGiven(order.price) && !isBudget && (order.timeInForce ?? "gtc") === "gtc";
    if (order.postOnly === true && !mayRest) {
      reject("postOnly", "needs a price and gtc, and no budgetCents");
    }
  })
  .meta({ id: "PlaceOrder", override: neededFields });

export const placeOrderResponseSchema = z.strictObject({
  order: placedOrderSchema,
  fills: z.array(fillSchema).meta({ description: "in the order of execution" }),
  cancelledOrders: z.array(placedOrderSchema).meta({
    description:
      "resting orders that this one met and that were cancelled: they could not match any more, or " +
      "were the caller's own",
  }),
  balance: balanceSchema.meta({ description: "after this order" }),
  feeCents: centsSchema.min(0).nullable().meta({
    description: "EUR-cents; null for a replay and for a scheduled order",
  }),
});

const place = route({
  method: "post",
  path: "/api/v1/orders",
  operationId: "placeOrder",
  tag: "Orders",
  summary: "Places an order",
  description:
    "Send an `idempotencyKey` with every order, in the body or as header `Idempotency-Key`. If the " +
    "answer gets lost, send the same again. With the header, another order with the key gets " +
    "`IDEMPOTENCY_KEY_REUSED`; with the field of the body, it is the first order. In optional fields " +
    "null means absent, except in the price of a buy.",
  auth: "key",
  rateLimit: "trading",
  takesToken: true,
  whenOutcomeUnknown: whenPlacingUnknown,
  request: { body: placeOrderSchema },
  responses: {
    201: {
      description: "A new order.",
      schema: placeOrderResponseSchema,
      headers: ["X-Market-Version"],
    },
    200: {
      description: "A replay: the order that the idempotency key stands for, as it is now.",
      schema: placeOrderResponseSchema,
      headers: ["X-Market-Version"],
    },
  },
  problems: [...rejections("MARKET_NOT_FOUND"), ...tradeProblems],
  handler: async ({ body, idempotency, response, token, userId }, { orderGatherer }) => {
    const result = await orderGatherer.place({ userId, ...withKey(body, idempotency) }, token);
    const answer = commandAnswer(response, result);
    return result.replayed ? answer : { ...answer, status: 201 };
  },
});

/** An order with the key of the header. Where both are given, they must be the same. */
function withKey(
  order: z.output<typeof placeOrderSchema>,
  idempotency: Idempotency | undefined,
): Omit<OrderRequest, "userId"> {
  if (idempotency === undefined) return order;
  const key = order.idempotencyKey ?? idempotency.idempotencyKey;
  if (key !== idempotency.idempotencyKey) {
    const message = "must be the Idempotency-Key of the header";
    throw new ProblemError(invalidRequest([{ path: "idempotencyKey", message }]));
  }
  return { ...order, ...idempotency };
}

export const previewResponseSchema = z.strictObject({
  status: z.enum([...orderStatusSchema.options, "rejected"]).meta({
    description: "as the order would have it, or `rejected`",
  }),
  fills: z
    .array(z.strictObject({ price: priceSchema, quantity: quantitySchema }))
    .meta({ description: "in the order of execution; prices of YES" }),
  filledQuantity: z.int().min(0).max(10_000),
  averagePrice: z.number().nullable().meta({
    description: "EUR-cents a share of the own side, rounded to 4 decimals; null without fills",
  }),
  costCents: centsSchema.meta({ description: "without the fee; negative for proceeds" }),
  feeCents: centsSchema.min(0),
  restingQuantity: z.int().min(0).max(10_000).meta({ description: "shares that would rest" }),
  balanceAfter: centsSchema,
  rejection: z
    .strictObject({ status: z.int(), error: z.string(), code: errorCodeSchema })
    .nullable()
    .meta({
      description:
        "how POST /orders would reject it; with the code also where that answer has none in its body",
    }),
});

/** The body of POST /orders/preview. Its idempotency key is ignored. */
const previewOrderSchema = z.preprocess(
  (body) => (isObject(body) ? { ...body, idempotencyKey: undefined } : body),
  placeOrderSchema,
);

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const preview = route({
  method: "post",
  path: "/api/v1/orders/preview",
  operationId: "previewOrder",
  tag: "Orders",
  summary: "What an order would do now; it changes nothing",
  description: "Counts as a read. `idempotencyKey` is ignored. The book may change meanwhile.",
  auth: "key",
  rateLimit: "read",
  request: { body: previewOrderSchema, documentedBody: placeOrderSchema },
  responses: {
    200: {
      description: "What the order would do, or its rejection.",
      schema: previewResponseSchema,
    },
  },
  handler: async ({ body, userId }, { reads, turns }) => {
    const order = { userId, ...body };
    const turn = turns.preview(userId, body.marketId);
    return acceptedBody(await reads.previewOrder({ order }, turn));
  },
});

/** That one of the fields is needed, for the OpenAPI document. The database checks it. */
const priceOrQuantity = {
  if: { properties: { price: notGiven } },
  then: { properties: { quantity: given }, required: ["quantity"] },
};

/** A change of an order. Null is the same as absent. */
const amendOrderSchema = z
  .object({
    price: priceSchema.nullish(),
    quantity: quantitySchema
      .nullish()
      .meta({ description: "new total, above the filled quantity" }),
  })
  .meta({ id: "AmendOrder", override: priceOrQuantity });

/** The order as it is now, or the order that replaces it. */
export const amendOrderResponseSchema = z.union([
  z.strictObject({
    order: changedOrderSchema,
    amended: z.boolean().meta({ description: "false if nothing was to be changed" }),
    queuePositionChanged: z.literal(false),
  }),
  z.strictObject({
    order: changedOrderSchema,
    fills: z.array(fillSchema),
    amended: z.literal(true),
    queuePositionChanged: z.literal(true),
    cancelledOrderId: uuidSchema.meta({ description: "the order that was replaced" }),
    feeCents: centsSchema.min(0),
  }),
]);

const amend = route({
  method: "patch",
  path: "/api/v1/orders/:id",
  operationId: "amendOrder",
  tag: "Orders",
  summary: "Changes the price or the quantity of one of the caller's orders",
  description:
    "A lower quantity keeps the order's place in the queue. Anything else replaces the order: it " +
    "is cancelled with `user_amended`, and a new one is placed for what is not filled. A new order " +
    "that is rejected leaves the old one as it was. A scheduled order is always replaced, with a " +
    "new delay while the market is live.",
  auth: "key",
  rateLimit: "trading",
  // A replacement has another id, and may be filled already.
  whenOutcomeUnknown:
    "retry with the same idempotency key; without one read the old order, whose replacedBy is its " +
    "successor",
  request: { params: idParams, body: amendOrderSchema },
  responses: {
    200: {
      description: "The order as it is now, or the one that replaces it.",
      schema: amendOrderResponseSchema,
      headers: ["X-Market-Version"],
    },
  },
  problems: [
    ...rejections(
      "ORDER_NOT_FOUND",
      "ORDER_NOT_AMENDABLE",
      "BELOW_FILLED",
      "BUDGET_ORDER_NOT_AMENDABLE",
    ),
    ...tradeProblems,
  ],
  handler: async ({ params, body, idempotency, response, userId }, context) => {
    const { orderGatherer, outboxRelay } = context;
    const { price = null, quantity = null } = body;
    const amendment = { userId, orderId: params.id, price, quantity, ...idempotency };
    const result = await orderGatherer.amend(amendment);
    outboxRelay.ring();
    return commandAnswer(response, result);
  },
});

export const cancelOrderResponseSchema = z.strictObject({
  order: changedOrderSchema,
  balance: balanceSchema,
});

const cancel = route({
  method: "delete",
  path: "/api/v1/orders/:id",
  operationId: "cancelOrder",
  tag: "Orders",
  summary: "Cancels one of the caller's orders",
  description:
    "What is filled stays filled. Works also while the market or the site is paused, and may be " +
    "repeated.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown: "safe to retry",
  request: { params: idParams },
  responses: {
    200: {
      description: "The cancelled order; the balance is unchanged.",
      schema: cancelOrderResponseSchema,
      headers: ["X-Market-Version"],
    },
  },
  problems: rejections("ORDER_NOT_CANCELLABLE", "ORDER_NOT_FOUND"),
  handler: async ({ params: { id }, idempotency, response, userId }, context) => {
    const { commands, outboxRelay, turns } = context;
    const turn = turns.command(userId);
    const command = { command: "cancel" as const, userId, orderId: id, ...idempotency };
    const result = await commands.runCommand(command, turn);
    outboxRelay.ring();
    return commandAnswer(response, result);
  },
});

export const listOrdersResponseSchema = z.strictObject({
  data: z.array(orderSchema).max(200),
  meta: z.strictObject({
    pageSize: z.int().min(0).max(200).meta({ description: "the number of orders in the answer" }),
    total: z.int().min(0).optional().meta({ description: "for cancelled and all" }),
  }),
});

const list = route({
  method: "get",
  path: "/api/v1/orders",
  operationId: "listOrders",
  tag: "Orders",
  summary: "The caller's orders, newest first, at most 200",
  auth: "key",
  description:
    "Those that are `filled`, `cancelled` or `all`: one at a time for each user. Others wait, for " +
    "some seconds at most.",
  rateLimit: "read",
  // They are looked for as far back as the user has any.
  isLong: ({ query: { status } }) => !["open", "scheduled"].includes(status),
  request: {
    query: z.object({
      marketId: uuidSchema.optional(),
      status: z.enum(["open", "scheduled", "filled", "cancelled", "all"]).default("open").meta({
        description: "`open`: scheduled and resting orders that have not expired",
      }),
    }),
  },
  responses: { 200: { description: "The orders.", schema: listOrdersResponseSchema } },
  handler: ({ query: { marketId, status }, userId }, { reads }) =>
    reads.listOrders({ userId, marketId, status }),
});

const read = route({
  method: "get",
  path: "/api/v1/orders/:id",
  operationId: "getOrder",
  tag: "Orders",
  summary: "One of the caller's orders",
  description: "An order of another user is 404, as one that does not exist.",
  auth: "key",
  ...{ rateLimit: "read", isLong: true },
  request: { params: idParams },
  responses: { 200: { description: "The order.", schema: orderDetailSchema } },
  problems: rejections("ORDER_NOT_FOUND"),
  handler: async ({ params: { id }, userId }, { reads }) => {
    const order = await reads.getOrder({ userId, orderId: id });
    return found(order, rejection("ORDER_NOT_FOUND"));
  },
});

// A path with an id comes after those without.
export const orderRoutes = [list, place, preview, ...cancelAllRoutes, read, amend, cancel];
