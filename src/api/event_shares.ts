import type { Response } from "express";
import { z } from "zod";
import { rejections } from "../http/problems.ts";
import { eventNotFound } from "./catalogue.ts";
import {
  acceptedBody,
  balanceSchema,
  centsSchema,
  idParams,
  quantitySchema,
  sideSchema,
  uuidSchema,
} from "./common.ts";
import type { Context } from "./context.ts";
import { noteReplay } from "./idempotency.ts";
import type { Idempotency } from "./idempotency.ts";
import { route } from "./route.ts";

/** Exchanging shares of an exclusive event, of which exactly one market resolves YES. */

const convertSharesSchema = z
  .object({
    // The database checks that each is there once.
    marketIds: z
      .array(uuidSchema)
      .min(1)
      .meta({ uniqueItems: true, description: "markets of the event, each once" }),
    quantity: quantitySchema.meta({ description: "NO shares of each of these markets" }),
  })
  .meta({ id: "ConvertShares" });

const redeemSharesSchema = z
  .object({ quantity: quantitySchema.meta({ description: "YES shares of each market" }) })
  .meta({ id: "RedeemShares" });

const heldSharesSchema = z
  .strictObject({ marketId: uuidSchema, side: sideSchema, quantity: z.int().min(1) })
  .meta({ id: "HeldShares" });

export const exchangeSharesResponseSchema = z
  .strictObject({
    cashCents: centsSchema.meta({ description: "EUR-cents that come in" }),
    positions: z
      .array(heldSharesSchema)
      .meta({ description: "all shares of the event that the caller then has" }),
    balance: balanceSchema,
  })
  .meta({ id: "ExchangedShares" });

const exchanged = {
  description: "The cash that came in, and what the caller then has.",
  schema: exchangeSharesResponseSchema,
} as const;

const whenOutcomeUnknown =
  "retry with the same idempotency key; without one read your statement first";

interface ExchangeCall {
  params: { id: string };
  body: { marketIds?: string[]; quantity: number };
  idempotency?: Idempotency | undefined;
  response: Response;
  userId: string;
}

async function exchange(
  { params: { id: eventId }, body, idempotency, response, userId }: ExchangeCall,
  { commands, turns }: Context,
): Promise<string> {
  const given = { userId, eventId, ...body, ...idempotency };
  const result = await commands.convertShares(given, turns.command(userId, eventId));
  noteReplay(response, result.replayed);
  return acceptedBody(result);
}

const redeemProblems = [
  eventNotFound,
  ...rejections("NOT_EXCLUSIVE", "MARKET_NOT_FOUND", "MARKET_NOT_OPEN", "INSUFFICIENT_BALANCE"),
];

const convertProblems = [
  ...redeemProblems,
  ...rejections("SELF_EXCLUDED", "ACCOUNT_FROZEN", "LIMITS_SETUP_REQUIRED", "TRADING_PAUSED"),
];

const convert = route({
  method: "post",
  path: "/api/v1/events/:id/convert",
  operationId: "convertShares",
  tag: "Portfolio",
  summary: "NO shares of an exclusive event into YES shares of its other markets and cash",
  description:
    "`quantity` NO shares of each named market become as many YES shares of every other market of " +
    "the event, and 100 cents a share for each named market but one. Without a fee. The YES shares " +
    "have cost what the NO shares had cost with their fees, less the cash. All markets of the event " +
    "must be open. Gates are those of a split.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown,
  request: { params: idParams, body: convertSharesSchema },
  responses: { 200: exchanged },
  problems: convertProblems,
  handler: exchange,
});

const preview = route({
  method: "post",
  path: "/api/v1/events/:id/convert/preview",
  operationId: "previewConvertShares",
  tag: "Portfolio",
  summary: "What a conversion would answer now; it changes nothing",
  description: "Counts as a read.",
  auth: "key",
  rateLimit: "read",
  request: { params: idParams, body: convertSharesSchema },
  responses: { 200: exchanged },
  problems: convertProblems,
  handler: async ({ params: { id: eventId }, body, userId }, { reads, turns }) => {
    const turn = turns.preview(userId, eventId);
    return acceptedBody(await reads.previewConversion({ userId, eventId, ...body }, turn));
  },
});

const redeem = route({
  method: "post",
  path: "/api/v1/events/:id/redeem",
  operationId: "redeemShares",
  tag: "Portfolio",
  summary: "YES shares of all markets of an exclusive event into 100 cents a set",
  description:
    "Exactly one of them will pay. Possible until a market of the event is resolved, whatever keeps " +
    "the caller from trading. Each share brings the same part of the cash.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown,
  request: { params: idParams, body: redeemSharesSchema },
  responses: { 200: exchanged },
  problems: redeemProblems,
  handler: exchange,
});

export const eventShareRoutes = [convert, preview, redeem];
