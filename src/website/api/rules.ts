import { publicApi } from "./client.ts";
import { keepAnswers } from "./kept_answers.ts";
import { resultOf } from "./result.ts";
import type { MarketRules } from "./types.ts";

const rules = keepAnswers({
  name: "rules",
  keptMs: 60_000,
  ask: (id) => resultOf(publicApi.GET("/api/v1/markets/{id}/rules", { params: { path: { id } } })),
});

/** The rules of a market; undefined when they are not known. */
export async function readRules(marketId: string): Promise<MarketRules | undefined> {
  const result = await rules.read(marketId);
  return result.ok ? result.data : undefined;
}
