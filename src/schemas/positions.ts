import { z } from "zod";
import { centsSchema, priceSchema, sideSchema, uuidSchema } from "./common.ts";
import { marketStatusSchema } from "./markets.ts";

/** Shares of one side of a market, in the portfolio and in the answers about complete sets. */
export const positionSchema = z
  .strictObject({
    id: uuidSchema,
    marketId: uuidSchema,
    marketTitle: z.string(),
    marketStatus: marketStatusSchema,
    lastTradePrice: priceSchema.nullable(),
    side: sideSchema,
    quantity: z.int().min(1),
    avgPrice: priceSchema.meta({ description: "EUR-cents a share, rounded half up" }),
    realisedPnl: centsSchema.meta({ description: "EUR-cents realised so far, less fees" }),
  })
  .meta({ id: "Position" });
