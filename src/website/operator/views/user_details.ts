import { cents, count, email, flag, text, time } from "./parts.ts";
import { users } from "./people.ts";
import type { Column, View } from "./view.ts";

/** A limit that waits: its time is there, and its amount if it is not a removal. */
function nextLimit(field: string, label: string, timeField: string): Column {
  const isRemoval = (row: Readonly<Record<string, unknown>>) => row[timeField] !== null;
  return { ...cents(field, label), ifNone: (row) => (isRemoval(row) ? "no limit" : undefined) };
}

/** A user with all that the exchange knows about limits and rates. */
export const userDetails: View = {
  ...users,
  columns: [
    { field: "userId", label: "Handle", kind: "user", name: ["self", "handle"] },
    text("displayName", "Name"),
    email,
    time("createdAt", "Since"),
    time("erasedAt", "Erased"),
    flag("isPrivate", "Private profile"),
    flag("leaderboardOptOut", "In no leaderboard"),
    cents("balanceCents", "Cash"),
    cents("netDepositsCents", "Net deposits"),
    cents("overdraftCents", "Below zero by"),
    cents("activeOrderCostCents", "Open orders may cost"),
    time("frozenAt", "Frozen since"),
    text("frozenBy", "Frozen by"),
    text("frozenReason", "Why frozen"),
    time("excludedUntil", "Self-excluded until"),
    time("limitsReviewedAt", "Limits reviewed"),
    count("confirmedAge", "Confirmed age"),
    time("ageConfirmedAt", "Age confirmed"),
    count("realityCheckMinutes", "Minutes to a reality check"),
    cents("dayLimitCents", "Loss limit of a day"),
    cents("dayNetSpentCents", "Net spent today"),
    nextLimit("nextDayLimitCents", "Next limit of a day", "dayLimitChangesAt"),
    time("dayLimitChangesAt", "It holds from"),
    cents("weekLimitCents", "Loss limit of 7 days"),
    cents("weekNetSpentCents", "Net spent in 7 days"),
    nextLimit("nextWeekLimitCents", "Next limit of 7 days", "weekLimitChangesAt"),
    time("weekLimitChangesAt", "It holds from"),
    cents("monthLimitCents", "Loss limit of 30 days"),
    cents("monthNetSpentCents", "Net spent in 30 days"),
    nextLimit("nextMonthLimitCents", "Next limit of 30 days", "monthLimitChangesAt"),
    time("monthLimitChangesAt", "It holds from"),
    text("rateTier", "Rate policy"),
    count("requestsPerMinute", "Requests a minute"),
    count("burstCapacity", "Back to back"),
    time("ratePolicyExpiresAt", "Policy until"),
  ],
};
