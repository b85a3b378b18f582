import type { JSX } from "preact";
import type { ListedMarket } from "../api/types.ts";

interface StatusProps {
  status: ListedMarket["status"];
  outcome: ListedMarket["resolvedOutcome"];
  /** Its outcome means nothing then. Lists do not know it, nor what a custom outcome is. */
  isUndone?: boolean;
}

/** Where a market is in its life. */
export function Status({ status, outcome, isUndone }: StatusProps): JSX.Element {
  if (isUndone === true) return <span class="badge badge-plain">Undone</span>;
  if (status === "resolved") {
    const custom = isUndone === undefined ? "Resolved, see how" : "Resolved partly";
    const words = outcome === "custom" ? custom : `Resolved ${outcome?.toUpperCase() ?? ""}`;
    return <span class={`badge badge-${outcome ?? "plain"}`}>{words}</span>;
  }
  const words = { open: "Open", paused: "Paused", closed: "Closed, waits for its outcome" }[status];
  return <span class={`badge badge-${status}`}>{words}</span>;
}
