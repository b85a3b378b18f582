import { ownApi } from "./client.ts";
import { giveCommand } from "./own_changes.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { ConvertShares, ExchangedShares } from "./types.ts";

/** Exchanging shares of an exclusive event. The same key does it once. */

export async function convertShares(
  id: string,
  body: ConvertShares,
  idempotencyKey: string,
): Promise<Result<ExchangedShares>> {
  const params = { path: { id }, header: { "Idempotency-Key": idempotencyKey } };
  return await giveCommand(
    () => resultOf(ownApi.POST("/api/v1/events/{id}/convert", { params, body })),
    () => ({ isNews: true }),
  );
}

export async function redeemShares(
  id: string,
  quantity: number,
  idempotencyKey: string,
): Promise<Result<ExchangedShares>> {
  const params = { path: { id }, header: { "Idempotency-Key": idempotencyKey } };
  return await giveCommand(
    () => resultOf(ownApi.POST("/api/v1/events/{id}/redeem", { params, body: { quantity } })),
    () => ({ isNews: true }),
  );
}

/** What a conversion would answer now. */
export async function previewConversion(
  id: string,
  body: ConvertShares,
): Promise<Result<ExchangedShares>> {
  const params = { path: { id } };
  return await resultOf(ownApi.POST("/api/v1/events/{id}/convert/preview", { params, body }));
}
