import { readEvent } from "../api/catalogue.ts";
import type { ListedEvent } from "../api/catalogue.ts";
import { useAsked } from "./use_asked.ts";

/** What lists show of an event; undefined until it is known. */
export function useEvent(id: string): ListedEvent | undefined {
  return useAsked(() => readEvent(id), [id]).data;
}
