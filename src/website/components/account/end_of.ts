import { timeNow } from "../../api/server_time.ts";

const DAY_MS = 86_400_000;

/** When so many days are over, or null for good. */
export function endOf(days: string): string | null {
  return days === "for-good" ? null : new Date(timeNow() + Number(days) * DAY_MS).toISOString();
}
