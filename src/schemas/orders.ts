import { z } from "zod";
import {
  balanceSchema,
  centsSchema,
  errorSchema,
  orderTypeSchema,
  priceSchema,
  quantitySchema,
  sideSchema,
  timeInForceSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";

const orderStatusSchema = z.enum(["scheduled", "open", "partially_filled", "filled", "cancelled"]);

const cancelReasonSchema = z.enum([
  "user_cancelled",
  "user_amended",
  "insufficient_funds",
  "market_closed",
  "position_insufficient",
  "expired",
  "trading_paused",
  "self_trade",
  "post_only_would_cross",
  "insufficient_liquidity",
  "self_excluded",
  "loss_limit",
]);

/** To UTC and milliseconds, within the years that four digits hold. */
const expirySchema = z.iso
  .datetime({ offset: true })
  .overwrite((text) => {
    const time = Date.parse(text);
    return Number.isNaN(time) ? text : new Date(time).toISOString();
  })
  .refine((text) => /^(?!0000)\d{4}-/.test(text), "must be between the years 1 and 9999");

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** The body of POST /orders. Null is the same as absent but for the price of a buy. */
export const placeOrderSchema = z
  .object({
    marketId: uuidSchema,
    side: sideSchema,
    price: priceSchema.nullish().meta({ description: "EUR-cents; null for a market order" }),
    quantity: quantitySchema.nullish(),
    budgetCents: z.int().min(1).max(1_000_000).nullish(),
    orderType: orderTypeSchema.nullish().meta({ default: "buy" }),
    timeInForce: timeInForceSchema.nullish().meta({ default: "gtc" }),
    idempotencyKey: uuidSchema.nullish(),
    expiresAt: expirySchema.nullish(),
    postOnly: z.boolean().nullish().meta({ default: false }),
  })
  .superRefine((order, context) => {
    const refuse = (field: keyof typeof order, message: string): void => {
      context.addIssue({ code: "custom", path: [field], message });
    };
    const isPriced = isGiven(order.price);
    const isCounted = isGiven(order.quantity);
    const isBudget = isGiven(order.budgetCents);
    if (order.orderType === "sell") {
      if (isBudget) refuse("budgetCents", "not for a sell");
      if (!isCounted) refuse("quantity", "required for a sell");
    } else {
      if (isBudget && isCounted) refuse("budgetCents", "excludes quantity");
      if (!isBudget && !isCounted) refuse("quantity", "required without budgetCents");
      if (!isBudget && order.price === undefined) {
        refuse("price", "required without budgetCents; null places a market order");
      }
    }
    if (order.postOnly === true && (isBudget || !isPriced || order.timeInForce === "ioc")) {
      refuse("postOnly", "needs a price and gtc, and no budgetCents");
    }
  })
  .meta({ id: "PlaceOrder" });

/** Every route's view of an order is a choice of these. */
const orderFields = {
  id: uuidSchema,
  userId: uuidSchema,
  marketId: uuidSchema,
  marketTitle: z.string(),
  side: sideSchema,
  price: priceSchema,
  quantity: z.int().min(0).max(10_000).meta({ description: "total shares ordered" }),
  filledQuantity: z.int().min(0).max(10_000),
  status: orderStatusSchema,
  orderType: orderTypeSchema,
  timeInForce: timeInForceSchema,
  cancelReason: cancelReasonSchema.nullable(),
  expiresAt: timestampSchema.nullable(),
  releaseAt: timestampSchema.nullable(),
  releaseInMs: z.int().min(0).nullable(),
  budgetCents: z.int().min(1).nullable(),
  createdAt: timestampSchema,
  sharesAhead: z.int().min(0),
};

/** An order in GET /orders and GET /orders/:id. */
export const listedOrderSchema = z.strictObject(orderFields).meta({ id: "Order" });

const placedOrderFields = z
  .strictObject({
    ...orderFields,
    releaseAt: orderFields.releaseAt.optional(),
    releaseInMs: orderFields.releaseInMs.optional(),
    budgetCents: orderFields.budgetCents.optional(),
  })
  .omit({ marketTitle: true, sharesAhead: true });

/** An order in the answer of POST /orders; a scheduled one also says when it is released. */
const placedOrderSchema = placedOrderFields.meta({ id: "PlacedOrder" });

/** An order in the answers of PATCH and DELETE /orders/:id and of cancel-batch. */
const changedOrderSchema = placedOrderFields
  .omit({ timeInForce: true })
  .meta({ id: "ChangedOrder" });

const fillSchema = z
  .strictObject({
    id: uuidSchema,
    marketId: uuidSchema,
    buyOrderId: uuidSchema,
    sellOrderId: uuidSchema,
    buyerId: uuidSchema,
    sellerId: uuidSchema,
    price: priceSchema,
    quantity: quantitySchema,
    createdAt: timestampSchema,
  })
  .meta({ id: "Fill" });

/** The answer of POST /orders: 201, or 200 for a replay. */
export const placeOrderResponseSchema = z.strictObject({
  order: placedOrderSchema,
  fills: z.array(fillSchema),
  cancelledOrders: z.array(placedOrderSchema),
  balance: balanceSchema,
  feeCents: centsSchema.min(0).nullable(),
});

/** Orders of one batch at most. */
export const MOST_IN_BATCH = 50;

const atomicSchema = z.boolean().nullish().meta({ default: false });

/** The body of POST /orders/batch. */
export const placeBatchSchema = z
  .object({
    orders: z
      .array(placeOrderSchema)
      .min(1, "must have at least 1 order")
      .max(MOST_IN_BATCH, `must have at most ${MOST_IN_BATCH} orders`),
    atomic: atomicSchema,
  })
  .meta({ id: "PlaceBatch" });

/** The same before it is known whether an order that is malformed is so for itself. */
export const looseBatchSchema = z.object({
  orders: z
    .array(z.unknown())
    .min(1, "must have at least 1 order")
    .max(MOST_IN_BATCH, `must have at most ${MOST_IN_BATCH} orders`),
  atomic: atomicSchema,
});

const resultStatusSchema = z.int().min(200).max(599).meta({ description: "of POST /orders" });

/** The answer of POST /orders/batch. */
export const placeBatchResponseSchema = z.strictObject({
  results: z.array(
    z.strictObject({
      status: resultStatusSchema,
      body: z.union([placeOrderResponseSchema, errorSchema]),
    }),
  ),
  balance: balanceSchema.nullable(),
});

/** The answer to an atomic batch of which an order was rejected. */
export const batchRejectedSchema = z.strictObject({
  error: z.string(),
  code: z.literal("BATCH_REJECTED"),
  index: z.int().min(0).meta({ description: "of the first order that was rejected, from 0" }),
  result: z.strictObject({ status: resultStatusSchema, body: errorSchema }),
});

/** The body of POST /orders/preview: its idempotency key is ignored, whatever it is. */
export const previewOrderSchema = z.preprocess(
  (body) => (isObject(body) ? { ...body, idempotencyKey: undefined } : body),
  placeOrderSchema,
);

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The answer of POST /orders/preview. */
export const previewResponseSchema = z.strictObject({
  status: z.enum([...orderStatusSchema.options, "rejected"]),
  fills: z
    .array(z.strictObject({ price: priceSchema, quantity: quantitySchema }))
    .meta({ description: "in the order of execution; prices of YES" }),
  filledQuantity: z.int().min(0).max(10_000),
  averagePrice: z.number().nullable().meta({ description: "EUR-cents a share of the own side" }),
  costCents: centsSchema.meta({ description: "without the fee; negative for proceeds" }),
  feeCents: centsSchema.min(0),
  restingQuantity: z.int().min(0).max(10_000),
  balanceAfter: centsSchema,
  rejection: z
    .strictObject({ status: z.int(), error: z.string(), code: z.string() })
    .nullable()
    .meta({ description: "why the order would be rejected" }),
});

/** The answer of DELETE /orders/:id. */
export const cancelOrderResponseSchema = z.strictObject({
  order: changedOrderSchema,
  balance: balanceSchema,
});

/** The body of PATCH /orders/:id. Null is the same as absent. */
export const amendOrderSchema = z
  .object({
    price: priceSchema.nullish(),
    quantity: quantitySchema
      .nullish()
      .meta({ description: "new total, above the filled quantity" }),
  })
  .superRefine((amendment, context) => {
    if (!isGiven(amendment.price) && !isGiven(amendment.quantity)) {
      context.addIssue({ code: "custom", path: ["price"], message: "required without quantity" });
    }
  })
  .meta({ id: "AmendOrder" });

/** The answer of PATCH /orders/:id: in place, unchanged, or replaced. */
export const amendOrderResponseSchema = z.union([
  z.strictObject({
    order: changedOrderSchema,
    amended: z.boolean(),
    queuePositionChanged: z.literal(false),
  }),
  z.strictObject({
    order: changedOrderSchema,
    fills: z.array(fillSchema),
    amended: z.literal(true),
    queuePositionChanged: z.literal(true),
    cancelledOrderId: uuidSchema,
    feeCents: centsSchema.min(0),
  }),
]);

/** The body of POST /orders/cancel-batch. */
export const cancelBatchSchema = z
  .object({
    orderIds: z
      .array(uuidSchema)
      .min(1, "must have at least 1 id")
      .max(100, "must have at most 100 ids"),
  })
  .meta({ id: "CancelBatch" });

/** The answer of POST /orders/cancel-batch. */
export const cancelBatchResponseSchema = z.strictObject({
  cancelled: z.array(changedOrderSchema),
  failures: z.array(
    z.strictObject({
      orderId: uuidSchema,
      code: z.enum(["not_found", "not_cancellable", "internal"]),
    }),
  ),
  balance: balanceSchema.nullable(),
});

/** Which of the caller's orders. */
export const listOrdersQuerySchema = z.object({
  marketId: uuidSchema.optional(),
  status: z.enum(["open", "scheduled", "filled", "cancelled", "all"]).default("open"),
});

/** The answer of GET /orders. */
export const listOrdersResponseSchema = z.strictObject({
  data: z.array(listedOrderSchema).max(200),
  meta: z.strictObject({
    pageSize: z.int().min(0).max(200),
    total: z.int().min(0).optional().meta({ description: "for cancelled and all" }),
  }),
});
