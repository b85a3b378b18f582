import { useEffect, useState } from "preact/hooks";
import { readRules, rulesVersion } from "../api/rules.ts";
import type { MarketRules } from "../api/types.ts";
import { useEvery } from "./use_every.ts";

const READ_EVERY_MS = 60_000;

/** The rules of a market, as they are now; undefined until they are known. */
export function useRules(marketId: string): MarketRules | undefined {
  const [rules, setRules] = useState<MarketRules>();
  const read = (): void => {
    void readRules(marketId).then((now) => {
      if (now !== undefined) setRules(now);
    });
  };
  useEffect(read, [marketId, rulesVersion.value]);
  useEvery(READ_EVERY_MS, read);
  return rules;
}
