import { useEffect, useState } from "preact/hooks";
import { readHeadings } from "../api/catalogue.ts";
import type { EventHeading } from "../api/types.ts";

/** What lists show of these events; those that are not known yet are missing. */
export function useEvents(ids: (string | null)[]): ReadonlyMap<string, EventHeading> {
  const [known, setKnown] = useState<ReadonlyMap<string, EventHeading>>(new Map());
  const asked = ids.filter((id) => id !== null);
  useEffect(() => {
    let isLatest = true;
    if (asked.length > 0) {
      void readHeadings(asked).then((headings) => {
        if (isLatest) setKnown(headings);
      });
    }
    return () => {
      isLatest = false;
    };
  }, [asked.join()]);
  return known;
}
