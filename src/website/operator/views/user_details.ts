import { cents, count, flag, text, time } from "./parts.ts";
import { users } from "./people.ts";
import type { View } from "./view.ts";

/** A user with all that the exchange knows about limits and rates. */
export const userDetails: View = {
  ...users,
  columns: [
    { field: "userId", label: "Handle", kind: "user", name: ["self", "handle"] },
    text("displayName", "Name"),
    text("email", "E-mail"),
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
    cents("dayLimitCents", "Loss limit of a day"),
    cents("dayNetSpentCents", "Net spent today"),
    cents("nextDayLimitCents", "Next limit of a day"),
    time("dayLimitChangesAt", "It holds from"),
    cents("weekLimitCents", "Loss limit of 7 days"),
    cents("weekNetSpentCents", "Net spent in 7 days"),
    cents("nextWeekLimitCents", "Next limit of 7 days"),
    time("weekLimitChangesAt", "It holds from"),
    cents("monthLimitCents", "Loss limit of 30 days"),
    cents("monthNetSpentCents", "Net spent in 30 days"),
    cents("nextMonthLimitCents", "Next limit of 30 days"),
    time("monthLimitChangesAt", "It holds from"),
    text("rateTier", "Rate policy"),
    count("requestsPerMinute", "Requests a minute"),
    count("burstCapacity", "Back to back"),
    time("ratePolicyExpiresAt", "Policy until"),
  ],
};
