import { ownApi } from "./client.ts";
import { giveCommand } from "./own_changes.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";

/** Turns as many YES as NO shares of a market into cash. The same key does it once. */
export async function mergeSets(
  body: { marketId: string; quantity: number },
  idempotencyKey: string,
): Promise<Result<unknown>> {
  const params = { header: { "Idempotency-Key": idempotencyKey } };
  return await giveCommand(
    () => resultOf(ownApi.POST("/api/v1/positions/merge", { params, body })),
    () => ({ isNews: true }),
  );
}
