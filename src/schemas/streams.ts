import { z } from "zod";
import { centsSchema, priceSchema, sideSchema, timestampSchema, uuidSchema } from "./common.ts";
import { levelSchema } from "./markets.ts";
import { listedOrderSchema } from "./orders.ts";

/** A frame of a market's stream. */
export const marketSnapshotSchema = z
  .strictObject({
    orderBook: z.strictObject({
      yesBids: z.array(levelSchema),
      noBids: z
        .array(levelSchema)
        .meta({ description: "in NO prices: the YES ask is 100 - price" }),
    }),
    recentTrades: z
      .array(
        z.strictObject({
          price: priceSchema,
          quantity: z.int().min(1),
          createdAt: timestampSchema,
          takerName: z.string().nullable(),
          takerHandle: z.string().nullable(),
          takerPrivate: z.boolean(),
          side: sideSchema.nullable().meta({ description: "the side that the taker bought" }),
        }),
      )
      .max(50),
    tradersCount: z.int().min(0),
  })
  .meta({ id: "MarketSnapshot" });

const order = listedOrderSchema.shape;

const orderFields = {
  orderId: uuidSchema,
  marketId: uuidSchema,
  side: order.side,
  price: order.price,
  quantity: order.quantity,
};

/** A frame of a user's stream. */
export const userEventSchema = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("connected") }),
    z.strictObject({
      type: z.literal("order_pending"),
      ...orderFields,
      releaseAt: timestampSchema,
      budgetCents: order.budgetCents,
    }),
    z.strictObject({
      type: z.literal("order_released"),
      ...orderFields,
      status: z.enum(["open", "partially_filled", "filled", "cancelled"]),
      filledQuantity: order.filledQuantity,
      cancelReason: order.cancelReason,
      fills: z.int().min(0).meta({ description: "number of trades" }),
      balance: centsSchema.nullable(),
      feeCents: centsSchema.min(0).nullable(),
    }),
    z.strictObject({
      type: z.literal("maker_fill"),
      marketId: uuidSchema,
      orderIds: z.array(uuidSchema),
      fillCount: z.int().min(1),
    }),
    z.strictObject({
      type: z.literal("order_cancelled"),
      ...orderFields,
      marketTitle: z.string(),
      filledQuantity: order.filledQuantity,
      cancelReason: order.cancelReason.unwrap(),
    }),
  ])
  .meta({ id: "UserEvent" });
