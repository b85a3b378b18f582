import { timeNow } from "../api/server_time.ts";
import type { Market } from "../api/types.ts";

/** What to say before the close time of a market, which may be closed before it. */
export function closeWord(
  { status }: Pick<Market, "status">,
  closeTime: string,
  now = timeNow(),
): "Closed" | "Closes" | "Was to close" {
  if (Date.parse(closeTime) <= now) return "Closed";
  return status === "closed" ? "Was to close" : "Closes";
}
