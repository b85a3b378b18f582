import { z } from "zod";
import {
  orderTypeSchema,
  priceSchema,
  quantitySchema,
  sideSchema,
  timeInForceSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";

/** Orders in answers. Each route shows a selection of the same fields. */

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

/** A trade, as its two users see it. */
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
