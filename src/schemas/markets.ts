import { z } from "zod";
import { centsSchema, paginated, priceSchema, timestampSchema, uuidSchema } from "./common.ts";

/** Where a market is in its life. */
export const marketStatusSchema = z.enum(["open", "paused", "closed", "resolved"]);

/** A market in a list. */
export const listedMarketSchema = z
  .strictObject({
    id: uuidSchema,
    title: z.string(),
    description: z.string(),
    category: z.string().meta({ description: "category slug" }),
    status: marketStatusSchema,
    eventId: uuidSchema.nullable(),
    lastTradePrice: priceSchema.nullable(),
    yesVolume: centsSchema.min(0),
    noVolume: centsSchema.min(0),
    closeTime: timestampSchema.nullable(),
    createdAt: timestampSchema,
    resolvedOutcome: z.enum(["yes", "no", "custom"]).nullable(),
    thumbnailId: uuidSchema.nullable(),
    thumbnailUrl: z.string().nullable(),
  })
  .meta({ id: "ListedMarket" });

/** The answer of GET /markets/:id. */
export const marketSchema = listedMarketSchema
  .extend({ bestBid: priceSchema.nullable(), bestAsk: priceSchema.nullable() })
  .meta({ id: "Market" });

/** What is left unfilled at one price. */
export const levelSchema = z
  .strictObject({ price: priceSchema, quantity: z.int().min(1) })
  .meta({ id: "OrderBookLevel" });

/** The answer of GET /markets/:id/orderbook. */
export const orderBookSchema = z.strictObject({
  bids: z.array(levelSchema),
  asks: z.array(levelSchema),
});

const tradeSchema = z
  .strictObject({
    id: uuidSchema,
    price: priceSchema,
    quantity: z.int().min(1),
    createdAt: timestampSchema,
  })
  .meta({ id: "Trade" });

/** The answer of GET /markets/:id/trades. */
export const listTradesResponseSchema = paginated(tradeSchema);
