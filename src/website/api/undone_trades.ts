import { ownApi } from "./client.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { UndoneTrade } from "./types.ts";

/** What was undone in these markets, the newest first, by one request. */
export async function readUndone(marketIds: string[]): Promise<Result<UndoneTrade[]>> {
  const markets = [...new Set(marketIds)].join(",");
  if (markets === "") return { ok: true, data: [] };
  const params = { query: { markets } };
  const result = await resultOf(ownApi.GET("/api/account/undone-trades", { params }));
  return result.ok ? { ok: true, data: result.data.data } : result;
}
