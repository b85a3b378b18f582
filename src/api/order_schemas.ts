import { z } from "zod";
import {
  centsSchema,
  orderTypeSchema,
  priceSchema,
  quantitySchema,
  sideSchema,
  timeInForceSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";

/** How answers show orders: each route has a choice of the same fields. */

export const orderStatusSchema = z.enum([
  "scheduled",
  "open",
  "partially_filled",
  "filled",
  "cancelled",
]);

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

/** An order that is read: in GET /orders and GET /orders/:id. */
export const orderSchema = z
  .strictObject({
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
  })
  .meta({ id: "Order" });

/** A fill as one of its two users sees it. */
export const ownFillSchema = z
  .strictObject({
    id: uuidSchema,
    orderId: uuidSchema,
    marketId: uuidSchema,
    side: sideSchema,
    orderType: orderTypeSchema,
    price: priceSchema.meta({ description: "EUR-cents a share of the own side" }),
    quantity: quantitySchema,
    liquidity: z.enum(["maker", "taker"]),
    feeCents: centsSchema.min(0),
    cashCents: centsSchema.meta({ description: "what it moved on the account, with the fee" }),
    balanceAfter: centsSchema,
    realisedPnl: centsSchema.nullable().meta({ description: "of a sell" }),
    createdAt: timestampSchema,
  })
  .meta({ id: "OwnFill" });

/** An order with all that became of it: in GET /orders/:id and the history. */
export const orderDetailSchema = orderSchema
  .extend({
    averagePrice: z.number().nullable().meta({ description: "EUR-cents a share of the own side" }),
    feeCents: centsSchema.min(0),
    replaces: uuidSchema.nullable().meta({ description: "the order in whose place it came" }),
    replacedBy: uuidSchema.nullable(),
    fills: z.array(ownFillSchema),
  })
  .meta({ id: "OrderDetail" });

const { releaseAt, releaseInMs, budgetCents, ...others } = orderSchema.shape;

const placedOrderFields = z
  .strictObject({
    ...others,
    releaseAt: releaseAt.optional(),
    releaseInMs: releaseInMs.optional(),
    budgetCents: budgetCents.optional(),
  })
  .omit({ marketTitle: true, sharesAhead: true });

/** An order that was placed; a scheduled one also says when it is released. */
export const placedOrderSchema = placedOrderFields.meta({ id: "PlacedOrder" });

/** An order that was amended or cancelled. */
export const changedOrderSchema = placedOrderFields
  .omit({ timeInForce: true })
  .meta({ id: "ChangedOrder" });

/** A trade as those who made it see it. */
export const fillSchema = z
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
