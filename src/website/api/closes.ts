import { publicApi } from "./client.ts";
import { keepBatches } from "./kept_batches.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";

/** The last prices of markets, in equal steps of time; null before the first trade. */
export type Closes = (number | null)[];

const closes = keepBatches({ name: "closes", keptMs: 5 * 60_000, most: 100, ask });

/** The prices of the last week of each of these markets, for small charts. */
export async function readCloses(marketIds: string[]): Promise<ReadonlyMap<string, Closes>> {
  return await closes.read(marketIds);
}

async function ask(ids: string[]): Promise<Result<ReadonlyMap<string, Closes>>> {
  const params = { query: { markets: ids.join(",") } };
  const result = await resultOf(publicApi.GET("/api/v1/sparklines", { params }));
  if (!result.ok) return result;
  const { data } = result.data;
  return { ok: true, data: new Map(data.map(({ marketId, prices }) => [marketId, prices])) };
}
