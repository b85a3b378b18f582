import { useEffect, useState } from "preact/hooks";
import { readCloses } from "../api/closes.ts";
import type { Closes } from "../api/closes.ts";
import { useEvery } from "./use_every.ts";

/** Narrower windows show no small charts, as in lists.css. */
const wide = matchMedia("(min-width: 40.01rem)");
const READ_EVERY_MS = 5 * 60_000;

/** The small charts of a list's markets, by one request; those that are not known yet are missing. */
export function useCloses(
  marketIds: string[],
  when: "wide" | "always" = "wide",
): ReadonlyMap<string, Closes> {
  const [known, setKnown] = useState<ReadonlyMap<string, Closes>>(new Map());
  const read = (): void => {
    if ((when === "always" || wide.matches) && marketIds.length > 0)
      void readCloses(marketIds).then(setKnown);
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
