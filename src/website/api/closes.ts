import { publicApi } from "./client.ts";
import { resultOf } from "./result.ts";

/**
 * Closing prices of the last week for small lines. An address may ask only so often, so each
 * market is asked about once in a while, and none for a while when it was too often.
 */

const DAYS_MS = 7 * 86_400_000;
const KEPT_MS = 5 * 60_000;
const PAUSE_MS = 60_000;

const kept = new Map<string, { at: number; closes: Promise<number[]> }>();
let pausedUntil = 0;

export async function readCloses(marketId: string): Promise<number[]> {
  const now = Date.now();
  const known = kept.get(marketId);
  if (known !== undefined && now - known.at < KEPT_MS) return await known.closes;
  if (now < pausedUntil) return [];
  const closes = ask(marketId, now);
  kept.set(marketId, { at: now, closes });
  return await closes;
}

async function ask(marketId: string, now: number): Promise<number[]> {
  const query = { interval: "1h", from: new Date(now - DAYS_MS).toISOString() } as const;
  const params = { path: { id: marketId }, query };
  const result = await resultOf(publicApi.GET("/api/v1/markets/{id}/candles", { params }));
  if (result.ok) return result.data.data.map(({ close }) => close);
  kept.delete(marketId);
  if (result.problem.status === 429) pausedUntil = now + PAUSE_MS;
  return [];
}
