import { timeNow } from "../api/server_time.ts";
import type { EventWithMarkets } from "../api/types.ts";

type EventTimes = Pick<EventWithMarkets, "startsAt" | "endsAt">;

/** Whether an event may be live at a moment, by its times. The rules of its markets say if it is. */
export function mayBeLive({ startsAt, endsAt }: EventTimes, now = timeNow()): boolean {
  const hasBegun = startsAt === null || Date.parse(startsAt) <= now;
  return hasBegun && (endsAt === null || Date.parse(endsAt) > now);
}
