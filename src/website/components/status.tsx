import type { JSX } from "preact";
import type { ListedMarket } from "../api/types.ts";

interface StatusProps {
  status: ListedMarket["status"];
  outcome: ListedMarket["resolvedOutcome"];
  /** Its outcome means nothing then. Lists do not know it. */
  isUndone?: boolean;
}

/** Where a market is in its life. */
export function Status({ status, outcome, isUndone = false }: StatusProps): JSX.Element {
  if (isUndone) return <span class="badge badge-plain">Undone</span>;
  if (status === "resolved") {
    // Partly YES and partly NO, or undone.
    const words =
      outcome === "custom" ? "Resolved, see how" : `Resolved ${outcome?.toUpperCase() ?? ""}`;
    return <span class={`badge badge-${outcome ?? "plain"}`}>{words}</span>;
  }
  const words = { open: "Open", paused: "Paused", closed: "Closed, waits for its outcome" }[status];
  return <span class={`badge badge-${status}`}>{words}</span>;
}
