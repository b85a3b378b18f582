import type { JSX } from "preact";
import { formatChange, toneOf } from "../format.ts";

/** A profit or a loss, coloured, on one line. */
export function Change({ cents }: { cents: number }): JSX.Element {
  return <span class={`amount ${toneOf(cents)}`}>{formatChange(cents)}</span>;
}
