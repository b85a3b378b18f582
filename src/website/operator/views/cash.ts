import {
  byDay,
  byMarket,
  byUser,
  cents,
  choice,
  count,
  journal,
  market,
  marketId,
} from "./parts.ts";
import { span, text, time, user } from "./parts.ts";
import type { View } from "./view.ts";

/** Cash and the ledger. */

export const cashMovements: View = {
  ...{ title: "Cash movements", list: "allCashMovements", type: "CashMovement" },
  columns: [
    time("createdAt", "When", true),
    user,
    text("kind", "Kind"),
    {
      ...cents("amountCents", "Amount", true),
      isOut: ({ kind }) => kind === "withdrawal" || kind === "reversal",
    },
    text("reference", "Reference"),
    text("reason", "Reason"),
    journal,
  ],
  filters: [
    byUser,
    choice("kind", "Kind", ["deposit", "withdrawal", "bonus", "adjustment", "reversal"]),
    { name: "reference", label: "Reference", kind: "contains", field: "reference" },
    { name: "journal", label: "Journal", kind: "key", field: "journalKey" },
    ...span("createdAt"),
  ],
  order: "JOURNAL_KEY_DESC",
  empty: "No cash came in or went out.",
};

export const journals: View = {
  ...{ title: "Lines of the ledger", list: "allJournalEntries", type: "JournalEntry" },
  columns: [
    time("createdAt", "When", true),
    journal,
    text("kind", "Kind"),
    { field: "accountKind", label: "Account" },
    { field: "accountKey", label: "Number of the account", kind: "key" },
    user,
    market,
    cents("amountCents", "Amount", true),
    cents("balanceBeforeCents", "Before"),
    cents("balanceAfterCents", "After"),
    count("accountVersion", "Line of the account"),
    { field: "tradeId", label: "Trade", kind: "trade" },
  ],
  filters: [
    { name: "journal", label: "Journal", kind: "key", field: "journalKey" },
    { name: "account", label: "Number of the account", kind: "key", field: "accountKey" },
    byUser,
    byMarket,
    { name: "trade", label: "Id of the trade", kind: "uuid", field: "tradeId" },
    { name: "kind", label: "Kind", kind: "equals", field: "kind" },
    ...span("createdAt"),
  ],
  order: "JOURNAL_KEY_DESC",
  keys: {
    ...{ list: "allJournals", type: "Journal", field: "journalKey" },
    shared: ["journalKey", "kind", "createdAt"],
  },
  empty: "No lines.",
};

export const receivables: View = {
  ...{ title: "Receivables", list: "allReceivables", type: "Receivable" },
  columns: [
    user,
    cents("amountCents", "Owed", true),
    time("since", "Since", true),
    text("kind", "By"),
    marketId,
    text("reference", "Reference"),
    text("reason", "Reason"),
  ],
  filters: [byUser, byMarket],
  order: "AMOUNT_CENTS_DESC",
  empty: "Nobody's cash is below zero.",
};

export const feePayouts: View = {
  ...{ title: "Fee payouts", list: "allFeePayouts", type: "FeePayout" },
  columns: [
    time("createdAt", "When", true),
    text("reference", "Reference"),
    market,
    cents("amountCents", "Amount", true),
    journal,
  ],
  filters: [
    { name: "reference", label: "Reference", kind: "contains", field: "reference" },
    byMarket,
    { name: "journal", label: "Journal", kind: "key", field: "journalKey" },
    ...span("createdAt"),
  ],
  order: "PRIMARY_KEY_DESC",
  empty: "No fees were paid out.",
};

export const cashCaps: View = {
  ...{ title: "Caps of cash", list: "allCashCaps", type: "CashCap" },
  columns: [
    text("kind", "Kind", true),
    cents("perCallCents", "By one call"),
    cents("perDayCents", "By one member of staff in a day"),
  ],
  filters: [],
  order: "KIND_ASC",
  empty: "No caps.",
};

export const feeSchedules: View = {
  ...{ title: "Fee schedules", list: "allFeeSchedules", type: "FeeSchedule" },
  columns: [
    time("effectiveFrom", "In force from", true),
    { field: "takerRateBps", label: "Taker's fee", kind: "bps" },
    text("category", "Category"),
    market,
    time("createdAt", "Made", true),
    time("cancelledAt", "Withdrawn"),
    { field: "feeScheduleKey", label: "Number", kind: "key" },
  ],
  filters: [{ name: "category", label: "Category", kind: "equals", field: "category" }, byMarket],
  order: "FEE_SCHEDULE_KEY_DESC",
  empty: "No fees are set.",
};

export const closedDays: View = {
  ...{ title: "Closed days", list: "allClosedDays", type: "ClosedDay" },
  columns: [
    text("day", "Day", true),
    time("closedAt", "Closed", true),
    count("bankEntries", "Entries of the bank"),
    count("differenceCount", "Differences"),
    { field: "differences", label: "Each of them", kind: "json" },
    text("reason", "Reason"),
  ],
  filters: [byDay],
  order: "DAY_DESC",
  empty: "No day is closed.",
};

export const closedFigures: View = {
  ...{ title: "Figures of closed days", list: "allClosedFigures", type: "ClosedFigure" },
  columns: [
    text("day", "Day", true),
    text("accountKind", "Kind of account"),
    text("item", "Item"),
    cents("amountCents", "Amount", true),
  ],
  filters: [
    byDay,
    choice("accountKind", "Kind of account", [
      ...["user_cash", "market_escrow", "event_escrow", "fee_revenue", "outside_world"],
    ]),
    { name: "item", label: "Item", kind: "equals", field: "item" },
  ],
  order: "PRIMARY_KEY_DESC",
  empty: "No day is closed.",
};

export const reconciliations: View = {
  ...{ title: "Comparisons with the bank", list: "allReconciliations", type: "Reconciliation" },
  columns: [
    text("day", "Day", true),
    time("comparedAt", "Compared", true),
    count("bankEntries", "Entries of the bank"),
    count("differenceCount", "Differences"),
    { field: "differences", label: "Each of them", kind: "json" },
  ],
  filters: [byDay],
  order: "DAY_DESC",
  empty: "No day was compared.",
};

export const openInterest: View = {
  ...{ title: "Escrow and open shares", list: "allOpenInterests", type: "OpenInterest" },
  columns: [
    market,
    count("pairCount", "Pairs of shares", true),
    cents("escrowCents", "Cash in escrow", true),
    cents("backedCents", "Needed for the shares"),
    cents("differenceCents", "Difference", true),
    count("yesHolderCount", "Holders of YES"),
    count("noHolderCount", "Holders of NO"),
  ],
  filters: [
    byMarket,
    { name: "different", label: "Different", kind: "isSome", field: "differenceCents" },
  ],
  order: "MARKET_KEY_DESC",
  empty: "No markets.",
};

export const feeRevenue: View = {
  ...{ title: "Fees by day", list: "allFeeRevenues", type: "FeeRevenue" },
  columns: [
    text("day", "Day", true),
    market,
    count("tradeCount", "Trades", true),
    count("quantity", "Shares", true),
    cents("feeCents", "Fees", true),
    cents("voidedFeeCents", "Given back by voids"),
    { field: "feeScheduleKey", label: "Fee schedule", kind: "key" },
  ],
  filters: [byDay, byMarket],
  order: "DAY_DESC",
  day: "day",
  empty: "No trades within 30 days.",
};
