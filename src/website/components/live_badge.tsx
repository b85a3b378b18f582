import type { JSX } from "preact";
import { useRules } from "../hooks/use_rules.ts";

/** Says that a market is live now, and how long its orders wait. */
export function LiveBadge({ marketId }: { marketId: string }): JSX.Element | null {
  const rules = useRules(marketId);
  if (rules?.live !== true || rules.liveDelayMs === null) return null;
  return <span class="badge badge-live">Live: orders wait {rules.liveDelayMs / 1000} s</span>;
}
