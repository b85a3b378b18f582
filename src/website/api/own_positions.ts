import { signal } from "@preact/signals";
import type { OwnPosition } from "./types.ts";

/** What the user holds in the market that is shown; undefined until it is known. */
export const shownPositions = signal<OwnPosition[] | undefined>(undefined);
