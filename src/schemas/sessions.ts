import { z } from "zod";
import { timestampSchema } from "./common.ts";

/** The answer of GET /api/auth/token. */
export const sessionTokenSchema = z.strictObject({
  token: z.string(),
  expiresAt: timestampSchema,
});
