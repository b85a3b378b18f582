import { z } from "zod";
import { centsSchema, timestampSchema, uuidSchema } from "./common.ts";

/** The answer of GET /me. */
export const accountSchema = z
  .strictObject({
    id: uuidSchema,
    displayName: z.string(),
    email: z.string(),
    balance: centsSchema,
    createdAt: timestampSchema,
  })
  .meta({ id: "Account" });

/** The answer of GET /me/rate-limits. */
export const rateLimitsSchema = z
  .strictObject({
    read: z.strictObject({
      limit: z.int().meta({ description: "requests in a rolling window" }),
      windowSeconds: z.int(),
    }),
    trading: z.strictObject({
      tier: z.enum(["standard", "elevated", "custom"]),
      requestsPerMinute: z.int().meta({ description: "sustained" }),
      burstCapacity: z.int().meta({ description: "requests back to back at most" }),
      expiresAt: timestampSchema
        .nullable()
        .meta({ description: "when the standard policy holds again" }),
    }),
  })
  .meta({ id: "RateLimits" });
