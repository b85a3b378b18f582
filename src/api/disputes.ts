import { z } from "zod";
import { rejections } from "../http/problems.ts";
import { acceptedBody, idParams, isBlank, timestampSchema, uuidSchema } from "./common.ts";
import { noteReplay } from "./idempotency.ts";
import { marketNotFound, outcomeSchema } from "./markets.ts";
import { route } from "./route.ts";

/** What users who held shares say against a resolution, and what staff answer. */

const MOST_CHARACTERS = 2000;

/**
 * PostgreSQL keeps no NUL. Characters are counted as it counts them. The pattern says less than the
 * check, in what every dialect of regular expressions understands.
 */
const textSchema = z
  .string()
  .refine((text) => !text.includes("\0"), "must have no NUL")
  .refine((text) => !isBlank(text), "must not be blank")
  .refine(
    (text) => Array.from(text).length <= MOST_CHARACTERS,
    `must have at most ${MOST_CHARACTERS} characters`,
  )
  .meta({
    minLength: 1,
    maxLength: MOST_CHARACTERS,
    pattern: "\\S",
    description: "what is wrong, in words",
  });

const disputeRequestSchema = z.object({ text: textSchema }).meta({ id: "DisputeResolution" });

export const disputeMadeSchema = z.strictObject({ id: uuidSchema, createdAt: timestampSchema });

const dispute = route({
  method: "post",
  path: "/api/v1/markets/:id/disputes",
  operationId: "disputeResolution",
  tag: "Markets",
  summary: "Disputes the resolution of a market that holds",
  description:
    "Until `disputeUntil` of the market's resolution, by users for whom it settled shares, once " +
    "each. After a correction it is possible again. It moves no cash: staff read it and answer.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown: "retry with the same idempotency key; without one read your disputes first",
  request: { params: idParams, body: disputeRequestSchema },
  responses: { 201: { description: "The dispute was made.", schema: disputeMadeSchema } },
  problems: [
    marketNotFound,
    ...rejections("NOT_OPEN_TO_DISPUTE", "NO_SHARES_HELD", "ALREADY_DISPUTED"),
  ],
  handler: async (
    { params: { id: marketId }, body: { text }, idempotency, response, userId },
    { commands, turns },
  ) => {
    const given = { userId, marketId, text, ...idempotency };
    const result = await commands.disputeResolution(given, turns.command(userId, marketId));
    noteReplay(response, result.replayed);
    return { status: 201, text: acceptedBody(result) };
  },
});

export const disputesResponseSchema = z.strictObject({
  data: z
    .array(
      z
        .strictObject({
          id: uuidSchema,
          marketId: uuidSchema,
          marketTitle: z.string(),
          outcome: outcomeSchema.meta({ description: "that is disputed" }),
          yesPayoutCents: z.int().min(0).max(100).meta({ description: "EUR-cents a YES share" }),
          resolvedAt: timestampSchema.meta({
            description: "of the resolution or correction that is disputed",
          }),
          text: z.string(),
          createdAt: timestampSchema,
          answer: z.string().nullable().meta({ description: "of staff; null: not yet" }),
          answeredAt: timestampSchema.nullable(),
        })
        .meta({ id: "Dispute" }),
    )
    .max(200),
});

const disputes = route({
  method: "get",
  path: "/api/v1/me/disputes",
  operationId: "listDisputes",
  tag: "Portfolio",
  summary: "The caller's disputes of resolutions with their answers, newest first",
  description: "At most the newest 200.",
  auth: "key",
  rateLimit: "read",
  request: { query: z.object({ marketId: uuidSchema.optional() }) },
  responses: { 200: { description: "The disputes.", schema: disputesResponseSchema } },
  handler: ({ query: { marketId }, userId }, { reads }) => reads.listDisputes({ userId, marketId }),
});

export const disputeRoutes = [dispute, disputes];
