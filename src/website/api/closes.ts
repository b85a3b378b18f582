import { publicApi } from "./client.ts";
import { keepAnswers } from "./kept_answers.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";

const DAYS_MS = 7 * 86_400_000;

const closes = keepAnswers({ name: "closes", keptMs: 5 * 60_000, ask });

/** Closing prices of the last week, for small lines; none when they are not known. */
export async function readCloses(marketId: string): Promise<number[]> {
  const result = await closes.read(marketId);
  return result.ok ? result.data : [];
}

async function ask(id: string): Promise<Result<number[]>> {
  const query = { interval: "1h", from: new Date(Date.now() - DAYS_MS).toISOString() } as const;
  const params = { path: { id }, query };
  const result = await resultOf(publicApi.GET("/api/v1/markets/{id}/candles", { params }));
  return result.ok ? { ok: true, data: result.data.data.map(({ close }) => close) } : result;
}
