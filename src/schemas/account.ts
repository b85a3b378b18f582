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
