import type { Response } from "express";
import { z } from "zod";
import { rejections } from "../http/problems.ts";
import {
  balanceSchema,
  centsSchema,
  priceSchema,
  quantitySchema,
  sideSchema,
  uuidSchema,
} from "./common.ts";
import type { Context } from "./context.ts";
import { commandAnswer } from "./idempotency.ts";
import type { CommandAnswer, Idempotency } from "./idempotency.ts";
import { marketStatusSchema } from "./markets.ts";
import { route } from "./route.ts";

/** Converting cash into complete sets of YES and NO shares, and back. */

/** Shares of one side of a market. */
export const positionSchema = z
  .strictObject({
    id: uuidSchema,
    marketId: uuidSchema,
    marketTitle: z.string(),
    marketStatus: marketStatusSchema,
    lastTradePrice: priceSchema.nullable(),
    side: sideSchema,
    quantity: z.int().min(1),
    avgPrice: priceSchema.meta({
      description: "EUR-cents paid for each share held, without fees, rounded half up",
    }),
    realisedPnl: centsSchema.meta({
      description:
        "EUR-cents: what selling, merging and settlement brought, less cost and all fees",
    }),
  })
  .meta({ id: "Position" });

const convertSetsSchema = z
  .object({
    marketId: uuidSchema,
    quantity: quantitySchema.meta({ description: "complete sets of one YES and one NO share" }),
  })
  .meta({ id: "ConvertSets" });

export const convertSetsResponseSchema = z.strictObject({
  marketId: uuidSchema,
  quantity: quantitySchema,
  balance: balanceSchema,
  positions: z.array(positionSchema).max(2),
});

const converted = {
  description: "The cash, and the positions of the market that hold shares.",
  schema: convertSetsResponseSchema,
  headers: ["X-Market-Version"],
} as const;

const whenOutcomeUnknown =
  "retry with the same idempotency key; without one read your statement first";

interface ConvertCall {
  body: z.output<typeof convertSetsSchema>;
  idempotency: Idempotency | undefined;
  response: Response;
  userId: string;
}

async function convert(
  command: "split" | "merge",
  { body: { marketId, quantity }, idempotency, response, userId }: ConvertCall,
  { commands, turns }: Context,
): Promise<CommandAnswer> {
  const turn = turns.command(userId, marketId);
  const given = { command, userId, marketId, quantity, ...idempotency };
  return commandAnswer(response, await commands.runCommand(given, turn));
}

const split = route({
  method: "post",
  path: "/api/v1/positions/split",
  operationId: "splitPosition",
  tag: "Portfolio",
  summary: "Makes complete sets, one YES and one NO share each, out of 100 cents each",
  description:
    "Without a fee. Each share has cost 50 cents. Checked like an order of this cost. The book does " +
    "not change.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown,
  request: { body: convertSetsSchema },
  responses: { 200: converted },
  problems: rejections(
    "MARKET_NOT_FOUND",
    "MARKET_NOT_OPEN",
    "INSUFFICIENT_BALANCE",
    "SELF_EXCLUDED",
    "ACCOUNT_FROZEN",
    "LOSS_LIMIT",
    "LIMITS_SETUP_REQUIRED",
    "TRADING_PAUSED",
  ),
  handler: (call, context) => convert("split", call, context),
});

const merge = route({
  method: "post",
  path: "/api/v1/positions/merge",
  operationId: "mergePosition",
  tag: "Portfolio",
  summary: "Gives complete sets back for 100 cents each",
  description:
    "The opposite of a split: 50 cents for each share. Possible until the market is resolved, " +
    "whatever keeps the caller from trading.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown,
  request: { body: convertSetsSchema },
  responses: { 200: converted },
  problems: rejections("MARKET_NOT_FOUND", "MARKET_NOT_OPEN", "INSUFFICIENT_BALANCE"),
  handler: (call, context) => convert("merge", call, context),
});

export const positionRoutes = [split, merge];
