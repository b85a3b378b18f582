import type { JSX } from "preact";
import type { Market } from "../api/types.ts";
import { useRules } from "../hooks/use_rules.ts";

interface LiveBadgeProps {
  /** Markets of one event: they are live together, so one of them is asked about. */
  markets: Pick<Market, "id" | "status">[];
}

/** Says that an event is live now, and how long orders wait in its markets. */
export function LiveBadge({ markets }: LiveBadgeProps): JSX.Element | null {
  const open = markets.find(({ status }) => status === "open");
  return open === undefined ? null : <Badge marketId={open.id} />;
}

function Badge({ marketId }: { marketId: string }): JSX.Element | null {
  const rules = useRules(marketId);
  if (rules?.live !== true || rules.liveDelayMs === null) return null;
  return <LiveWords delayMs={rules.liveDelayMs} />;
}

/** How long orders wait in a live market. */
export function LiveWords({ delayMs }: { delayMs: number }): JSX.Element {
  return <span class="badge badge-live">Live: orders wait {delayMs / 1000} s</span>;
}
