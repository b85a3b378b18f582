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

/** Orders in answers. Each route shows a selection of the same fields. */

export const orderStatusSchema = z.enum([
  "scheduled",
  "open",
  "partially_filled",
  "filled",
  "cancelled",
]);

const statusDescription =
  "`scheduled`: waits in a live market. `open`: rests, nothing filled. `partially_filled`: rests. " +
  "`filled`: done; also a budget order whose rest pays for no further share. `cancelled`: over, " +
  "also an `ioc` order that was filled in part.";

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

const cancelReasonDescription =
  "`user_cancelled`: by its owner or an operator. `user_amended`: replaced by an amendment. " +
  "`expired`: at its `expiresAt`. `market_closed`: its market closed, or was not open at its " +
  "release. `insufficient_liquidity`: it may not rest, and the book had no more for it. " +
  "`insufficient_funds`, `position_insufficient`: its owner could not pay or deliver when it would " +
  "have matched. `self_excluded`: its owner is self-excluded. `loss_limit`: the match would have " +
  "exceeded a loss limit. `trading_paused`: the account was frozen; or, at its release, the site was " +
  "paused, or a new minimum age was not confirmed. `self_trade`, `post_only_would_cross`: rejected " +
  "so at its release.";

/** An order that is read: in GET /orders and GET /orders/:id. */
export const orderSchema = z
  .strictObject({
    id: uuidSchema,
    userId: uuidSchema,
    marketId: uuidSchema,
    marketTitle: z.string(),
    side: sideSchema,
    price: priceSchema.meta({
      description: "EUR-cents a share; of a market order its protection price, 99 or 1",
    }),
    quantity: z.int().min(0).max(10_000).meta({
      description: "total shares ordered; of a budget order what it bought, 0 while scheduled",
    }),
    filledQuantity: z.int().min(0).max(10_000),
    status: orderStatusSchema.meta({ description: statusDescription }),
    orderType: orderTypeSchema,
    timeInForce: timeInForceSchema,
    cancelReason: cancelReasonSchema.nullable().meta({ description: cancelReasonDescription }),
    expiresAt: timestampSchema.nullable(),
    releaseAt: timestampSchema.nullable().meta({
      description: "when a live market matches it, or did",
    }),
    releaseInMs: z.int().min(0).nullable().meta({
      description: "of a scheduled order: from this answer to its release, in ms",
    }),
    budgetCents: z.int().min(1).nullable().meta({
      description: "EUR-cents; of a scheduled budget order",
    }),
    createdAt: timestampSchema,
    sharesAhead: z.int().min(0).meta({
      description: "unfilled shares at better prices, and of earlier orders at its price",
    }),
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

/** A trade, as its two users see it. */
export const fillSchema = z
  .strictObject({
    id: uuidSchema,
    marketId: uuidSchema,
    buyOrderId: uuidSchema,
    sellOrderId: uuidSchema,
    buyerId: uuidSchema.meta({ description: "the user on the YES side" }),
    sellerId: uuidSchema.meta({ description: "the user on the NO side" }),
    price: priceSchema.meta({ description: "YES price" }),
    quantity: quantitySchema,
    createdAt: timestampSchema,
  })
  .meta({ id: "Fill" });
