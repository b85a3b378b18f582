import { ownApi } from "./client.ts";
import { resultOf } from "./result.ts";

/** Titles of markets, for lists whose rows have only a market's id. Each is asked for once. */

const titles = new Map<string, string>();

/** Reads the titles of these markets that are not known yet, by one request. */
export async function readTitles(marketIds: (string | null)[]): Promise<void> {
  const unknown = new Set(marketIds.filter((id) => id !== null).filter((id) => !titles.has(id)));
  if (unknown.size === 0) return;
  const query = { ids: [...unknown].join(",") };
  const result = await resultOf(ownApi.GET("/api/account/market-titles", { params: { query } }));
  if (!result.ok) return;
  for (const { id, title } of result.data.data) titles.set(id, title);
}

/** The title of a market, or a word for it where that could not be read. */
export function titleOf(marketId: string): string {
  return titles.get(marketId) ?? "Market";
}
