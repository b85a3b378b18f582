import { ownApi } from "./client.ts";
import { announceChange } from "./own_changes.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";

/** Turns as many YES as NO shares of a market into cash. The same key does it once. */
export async function mergeSets(
  body: { marketId: string; quantity: number },
  idempotencyKey: string,
): Promise<Result<unknown>> {
  const params = { header: { "Idempotency-Key": idempotencyKey } };
  const result = await resultOf(ownApi.POST("/api/v1/positions/merge", { params, body }));
  announceChange();
  return result;
}
