import { z } from "zod";
import { plainProblem } from "../http/problems.ts";
import { centsSchema, found, timestampSchema } from "./common.ts";
import { route } from "./route.ts";

/** What anybody can keep, and compare later; and what shows users that their cash is counted. */

/** A block is made every 5 seconds at most, and a proof at any moment that an operator wants. */
const caching = { freshSeconds: 5, staleSeconds: 10 };

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
      caching,
    },
  },
  handler: (_call, { publicReads }) => publicReads.getHistoryHead(),
});

export const balanceProofSchema = z
  .strictObject({
    publishedAt: timestampSchema.nullable().meta({
      description: "the moment of the balances; null before the first proof",
    }),
    root: hashSchema.nullable(),
    totalCents: z.int().min(0).nullable().meta({
      description: "the cash of all users, in EUR-cents; of those who owe cash 0",
    }),
  })
  .meta({ id: "BalanceProof" });

const balances = route({
  method: "get",
  path: "/api/v1/proofs/balances",
  operationId: "getBalanceProof",
  tag: "Proofs",
  summary: "The root of the last proof of balances",
  description:
    "A Merkle sum tree over the cash of all users. Keep root and total, and compare them with those " +
    "that others got: each user can check that their own cash is in them.",
  auth: "public",
  rateLimit: "read",
  responses: {
    200: {
      description: "The proof. Before the first one all fields are null.",
      schema: balanceProofSchema,
      caching,
    },
  },
  handler: (_call, { publicReads }) => publicReads.getBalanceProof(),
});

export const ownProofSchema = z
  .strictObject({
    publishedAt: timestampSchema.meta({ description: "the moment of the balances" }),
    root: hashSchema,
    totalCents: centsSchema.min(0).meta({ description: "the cash of all users, in EUR-cents" }),
    balanceCents: centsSchema.min(0).meta({
      description: "the caller's cash at that moment; 0 if it was below zero",
    }),
    salt: hashSchema.meta({ description: "32 random bytes of the leaf: a secret of the caller" }),
    leafIndex: z.int().min(0).meta({ description: "the place of the leaf, which is random" }),
    path: z
      .array(
        z.strictObject({
          side: z.enum(["left", "right"]).meta({ description: "where the other node stands" }),
          hash: hashSchema,
          sumCents: centsSchema.min(0).meta({ description: "the cash of all users below it" }),
        }),
      )
      .meta({ description: "the other node of each pair, from the leaf to the root" }),
  })
  .meta({ id: "OwnProof" });

const noProof = plainProblem(404, "No proof of balances has this account yet");

const ownProof = route({
  method: "get",
  path: "/api/v1/me/proof",
  operationId: "getOwnProof",
  tag: "Proofs",
  summary: "The caller's cash in the last proof of balances",
  description:
    "With the caller's id it leads to the root: each sum and hash follows from those below. 404 " +
    "before the first proof, and for a user who came after the last one.",
  auth: "key",
  rateLimit: "read",
  responses: { 200: { description: "Leaf and path.", schema: ownProofSchema } },
  problems: [noProof],
  handler: async ({ userId }, { reads }) => found(await reads.getOwnProof({ userId }), noProof),
});

export const proofRoutes = [head, balances, ownProof];
