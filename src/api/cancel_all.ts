import { z } from "zod";
import type { CancelledOrders } from "../database/calls.ts";
import { rejections } from "../http/problems.ts";
import { acceptedBody, balanceSchema, timestampSchema, uuidSchema } from "./common.ts";
import { noteReplay } from "./idempotency.ts";
import { route } from "./route.ts";

/** What stops the caller's orders: a cancel of all of them, at once or when the caller is gone. */

const cancelAllSchema = z
  .object({
    marketId: uuidSchema.nullish().meta({ description: "only in this market" }),
  })
  .meta({ id: "CancelAll" });

export const cancelAllResponseSchema = z.strictObject({
  cancelled: z.int().min(0).meta({ description: "the number of orders" }),
  balance: balanceSchema,
});

const cancelAll = route({
  method: "post",
  path: "/api/v1/orders/cancel-all",
  operationId: "cancelAllOrders",
  tag: "Orders",
  summary: "Cancels all open orders of the caller",
  description:
    "Resting and scheduled ones, with `user_cancelled`. When it answers, no order is open that was " +
    "open when it came. An order that was placed meanwhile may stay. Works also while a market or " +
    "the site is paused, and when no trading requests are left: it has a rate limit of its own. The " +
    "body may be left out.",
  auth: "key",
  rateLimit: "cancel-all",
  whenOutcomeUnknown: "safe to retry",
  request: {
    body: z.preprocess((body) => body ?? {}, cancelAllSchema),
    documentedBody: cancelAllSchema,
  },
  responses: {
    200: { description: "How many orders were cancelled.", schema: cancelAllResponseSchema },
  },
  problems: rejections("MARKET_NOT_FOUND"),
  handler: async ({ body: { marketId }, idempotency, response, userId }, context) => {
    const { commands, outboxRelay, turns } = context;
    const turn = turns.cancelAll(userId);
    let result: CancelledOrders | undefined;
    try {
      do {
        result = await commands.cancelAllOrders(
          {
            userId,
            marketId,
            ...idempotency,
            untilOrderId: result?.lastOrderId,
            cancelledBefore: result?.cancelled ?? 0,
          },
          turn,
        );
      } while (result.code === null && result.body === null);
    } finally {
      outboxRelay.ring();
    }
    noteReplay(response, result.replayed);
    return acceptedBody({ ...result, body: result.body ?? "" });
  },
});

const TIMEOUT_MS = { least: 1000, most: 300_000 };
const timeoutMessage = `must be 0, or from ${TIMEOUT_MS.least} to ${TIMEOUT_MS.most}`;

const setDeadManSchema = z
  .object({
    timeoutMs: z
      .int()
      .refine((ms) => ms === 0 || (ms >= TIMEOUT_MS.least && ms <= TIMEOUT_MS.most), timeoutMessage)
      .meta({
        description: `milliseconds from ${TIMEOUT_MS.least} to ${TIMEOUT_MS.most}; 0 is off`,
        override: {
          minimum: 0,
          maximum: TIMEOUT_MS.most,
          not: { exclusiveMinimum: 0, exclusiveMaximum: TIMEOUT_MS.least },
        },
      }),
  })
  .meta({ id: "SetDeadMan" });

export const deadManResponseSchema = z
  .strictObject({
    expiresAt: timestampSchema.nullable().meta({ description: "when it fires; null: it is off" }),
  })
  .meta({ id: "DeadMan" });

const setDeadMan = route({
  method: "put",
  path: "/api/v1/orders/dead-man",
  operationId: "setDeadMan",
  tag: "Orders",
  summary: "Sets or renews the dead man's switch of the caller",
  description:
    "Unless it is renewed in time, all open orders of the caller are cancelled, as by cancel-all, " +
    "with an event `order_cancelled` for each. It fires once and is then off. A renewal that comes " +
    "when the switch has expired changes nothing and gets `DEAD_MAN_FIRED` while there are orders to " +
    "cancel; after that the switch is set anew. For 24 hours the answers to PUT have the header " +
    "`Dead-Man-Fired` with the time of the expiry at which it fired last. Has the rate limit of " +
    "cancel-all.",
  auth: "key",
  rateLimit: "cancel-all",
  whenOutcomeUnknown: "safe to retry",
  request: { body: setDeadManSchema },
  responses: {
    200: {
      description: "The switch.",
      schema: deadManResponseSchema,
      mayHave: ["Dead-Man-Fired"],
    },
  },
  problems: rejections("DEAD_MAN_FIRED"),
  handler: async ({ body: { timeoutMs }, idempotency, response, userId }, { commands, turns }) => {
    const turn = turns.cancelAll(userId);
    const result = await commands.setDeadMan({ userId, timeoutMs, ...idempotency }, turn);
    const text = acceptedBody(result);
    noteReplay(response, result.replayed);
    if (result.firedAt !== null) response.setHeader("Dead-Man-Fired", result.firedAt);
    return text;
  },
});

const getDeadMan = route({
  method: "get",
  path: "/api/v1/orders/dead-man",
  operationId: "getDeadMan",
  tag: "Orders",
  summary: "The dead man's switch of the caller",
  description: "A time in the past: it has fired, and orders are being cancelled.",
  auth: "key",
  rateLimit: "read",
  responses: { 200: { description: "The switch.", schema: deadManResponseSchema } },
  handler: ({ userId }, { reads }) => reads.getDeadMan({ userId }),
});

export const cancelAllRoutes = [cancelAll, setDeadMan, getDeadMan];
