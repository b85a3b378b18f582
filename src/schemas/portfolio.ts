import { z } from "zod";
import { centsSchema, pageQuerySchema, paginated } from "./common.ts";
import { listedOrderSchema } from "./orders.ts";
import { positionSchema } from "./positions.ts";

/** Which of the caller's orders, by pages. */
export const listAccountOrdersQuerySchema = pageQuerySchema.extend({
  status: z.enum(["open", "filled", "all"]).default("open"),
});

/** An order in GET /me/orders. */
const accountOrderSchema = listedOrderSchema
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

/** The answer of GET /me/orders. */
export const listAccountOrdersResponseSchema = paginated(accountOrderSchema);

const openOrderFields = accountOrderSchema
  .omit({ userId: true, expiresAt: true })
  .extend({ status: z.enum(["open", "partially_filled"]) });

/** An open order in the portfolio; a scheduled one also says when it is released. */
const openOrderSchema = z
  .union([
    openOrderFields,
    openOrderFields.extend({
      status: z.literal("scheduled"),
      releaseAt: listedOrderSchema.shape.releaseAt.unwrap(),
      budgetCents: listedOrderSchema.shape.budgetCents,
    }),
  ])
  .meta({ id: "OpenOrder" });

/** The answer of GET /me/portfolio. */
export const portfolioSchema = z
  .strictObject({
    balance: centsSchema,
    positions: z.array(positionSchema),
    openOrders: z.array(openOrderSchema).max(200),
  })
  .meta({ id: "Portfolio" });
