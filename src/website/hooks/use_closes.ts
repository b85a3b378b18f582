import { useEffect, useState } from "preact/hooks";
import { readCloses, readClosesAnew } from "../api/closes.ts";
import type { Closes } from "../api/closes.ts";
import { useEvery } from "./use_every.ts";

/** Narrower windows show no small charts, as in lists.css. */
const wide = matchMedia("(min-width: 40.01rem)");
const READ_EVERY_MS = 5 * 60_000;
/** A shared cache may have answered from before the last trade. */
const READ_EVENT_EVERY_MS = 60_000;

/** The prices of some markets of an event. Each page asks for them anew, and after trades. */
export function useEventCloses(
  markets: { marketId: string; volume: number }[],
): ReadonlyMap<string, Closes> {
  const [known, setKnown] = useState<ReadonlyMap<string, Closes>>(new Map());
  const marketIds = markets.map(({ marketId }) => marketId);
  const read = (): void => {
    if (marketIds.length > 0) void readClosesAnew(marketIds).then(setKnown);
  };
  const text = markets.map(({ marketId, volume }) => `${marketId} ${volume}`).sort();
  useEffect(read, [text.join()]);
  useEvery(READ_EVENT_EVERY_MS, read);
  return known;
}

/** The small charts of a list's markets, by one request; those that are not known yet are missing. */
export function useCloses(marketIds: string[]): ReadonlyMap<string, Closes> {
  const [known, setKnown] = useState<ReadonlyMap<string, Closes>>(new Map());
  const read = (): void => {
    if (wide.matches && marketIds.length > 0) void readCloses(marketIds).then(setKnown);
  };
  const text = [...marketIds].sort().join();
  useEffect(read, [text]);
  useEvery(READ_EVERY_MS, read);
  useEffect(() => {
    wide.addEventListener("change", read);
    return () => {
      wide.removeEventListener("change", read);
    };
  }, [text]);
  return known;
}
