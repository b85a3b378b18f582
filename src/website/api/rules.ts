import { signal } from "@preact/signals";
import { publicApi } from "./client.ts";
import { keepAnswers } from "./kept_answers.ts";
import { resultOf } from "./result.ts";
import type { MarketRules } from "./types.ts";

const rules = keepAnswers({
  name: "rules",
  keptMs: 60_000,
  // A load of the page reads them anew.
  store: null,
  ask: (id) => resultOf(publicApi.GET("/api/v1/markets/{id}/rules", { params: { path: { id } } })),
});

/** Rises when rules are to be read anew. */
export const rulesVersion = signal(0);

/** To be called when a market has changed, so that its rules may have too. */
export function noteChangedRules(marketId: string): void {
  rules.drop(marketId);
  rulesVersion.value++;
}

/** The rules of a market; undefined when they are not known. */
export async function readRules(marketId: string): Promise<MarketRules | undefined> {
  const result = await rules.read(marketId);
  return result.ok ? result.data : undefined;
}
