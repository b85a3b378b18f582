import { z } from "zod";
import { timestampSchema } from "./common.ts";
import { route } from "./route.ts";

/** What anybody can keep, and compare later. */

/** A block is made every 5 seconds at most. */
const headCaching = { freshSeconds: 5, staleSeconds: 10 };

const hashSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: "SHA-256" });

export const historyHeadSchema = z
  .strictObject({
    block: z.int().min(1).nullable().meta({ description: "its number; null before the first" }),
    count: z.int().min(1).nullable().meta({ description: "rows that the block seals" }),
    hash: hashSchema.nullable(),
    previousHash: hashSchema.nullable().meta({ description: "of the block before" }),
    sealedThrough: timestampSchema.nullable().meta({
      description: "what was written by then is sealed, except orders that were open",
    }),
    createdAt: timestampSchema.nullable(),
  })
  .meta({ id: "HistoryHead" });

const head = route({
  method: "get",
  path: "/api/v1/proofs/head",
  operationId: "getHistoryHead",
  tag: "Proofs",
  summary: "The last block that seals the history of the exchange",
  description:
    "Keep it: if history before it is changed later, block and hash no longer fit together.",
  auth: "public",
  rateLimit: "read",
  responses: {
    200: {
      description: "The block. Before the first one all fields are null.",
      schema: historyHeadSchema,
      caching: headCaching,
    },
  },
  handler: (_call, { reads }) => reads.getHistoryHead(),
});

export const proofRoutes = [head];
