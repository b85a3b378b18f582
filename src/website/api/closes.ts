import { timeNow } from "./server_time.ts";
import { closesOf } from "../components/chart/closes_line.ts";
import type { Axis, TimedPrice } from "../components/chart/price_line.ts";
import { publicApi } from "./client.ts";
import { keepBatches } from "./kept_batches.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";

/** The prices of a market in the last days, oldest first; none before the first trade. */
export interface Closes extends Axis {
  points: TimedPrice[];
}

const closes = keepBatches({ name: "closes", keptMs: 5 * 60_000, most: 100, ask });

/** The prices of the last week of each of these markets, for small charts. */
export async function readCloses(marketIds: string[]): Promise<ReadonlyMap<string, Closes>> {
  return await closes.read(marketIds);
}

/** The same, asked for now. What could not be read is as it was. */
export async function readClosesAnew(marketIds: string[]): Promise<ReadonlyMap<string, Closes>> {
  return await closes.readAnew(marketIds);
}

async function ask(ids: string[]): Promise<Result<ReadonlyMap<string, Closes>>> {
  const params = { query: { markets: ids.join(",") } };
  const result = await resultOf(publicApi.GET("/api/v1/sparklines", { params }));
  if (!result.ok) return result;
  const { from, stepSeconds, data } = result.data;
  const steps = { from: Date.parse(from), stepMs: stepSeconds * 1000, now: timeNow() };
  return {
    ok: true,
    data: new Map(data.map(({ marketId, prices }) => [marketId, closesOf(prices, steps)])),
  };
}
