import { z } from "zod";
import {
  balanceSchema,
  centsSchema,
  priceSchema,
  quantitySchema,
  sideSchema,
  uuidSchema,
} from "./common.ts";
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

/** The body of POST /positions/split and POST /positions/merge. */
export const convertSetsSchema = z
  .object({
    marketId: uuidSchema,
    quantity: quantitySchema.meta({ description: "complete sets of one YES and one NO share" }),
  })
  .meta({ id: "ConvertSets" });

/** Their answer; the positions of the market that hold shares. */
export const convertSetsResponseSchema = z.strictObject({
  marketId: uuidSchema,
  quantity: quantitySchema,
  balance: balanceSchema,
  positions: z.array(positionSchema).max(2),
});
