import { publicApi } from "./client.ts";
import { resultOf } from "./result.ts";
import type { MarketRules } from "./types.ts";

/**
 * The rules of markets. An address may ask only so often, so each market is asked about once in a
 * while, and none for a while when it was too often.
 */

const KEPT_MS = 60_000;
const PAUSE_MS = 60_000;

const kept = new Map<string, { at: number; rules: Promise<MarketRules | undefined> }>();
let pausedUntil = 0;

/** The rules of a market; undefined when they are not known. */
export async function readRules(marketId: string): Promise<MarketRules | undefined> {
  const now = Date.now();
  const known = kept.get(marketId);
  if (known !== undefined && now - known.at < KEPT_MS) return await known.rules;
  if (now < pausedUntil) return undefined;
  const rules = ask(marketId, now);
  kept.set(marketId, { at: now, rules });
  return await rules;
}

async function ask(marketId: string, now: number): Promise<MarketRules | undefined> {
  const params = { path: { id: marketId } };
  const result = await resultOf(publicApi.GET("/api/v1/markets/{id}/rules", { params }));
  if (result.ok) return result.data;
  kept.delete(marketId);
  if (result.problem.status === 429) pausedUntil = now + PAUSE_MS;
  return undefined;
}
